// Devices by dynamic resource allocation on a real cluster: the scheduler allocates them, the kubelet prepares them with a driver, and the
// node's daemon reads them with exactly the chart's rights.

import { readFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Cluster } from "../lab/cluster/cluster.ts";
import { toolsImage } from "../lab/cluster/images.ts";
import { toolsPod } from "../lab/cluster/pods.ts";
import { clusterWithPlexus } from "../lab/cluster/ready-cluster.ts";
import { explained } from "../lab/cluster/release.ts";
import { missingCluster } from "../lab/cluster/requirements.ts";
import { type ResourceDriver, startResourceDriver } from "../lab/cluster/resource-driver.ts";
import { helm } from "../lab/kube/helm.ts";
import { missingBuild } from "../lab/plexus.ts";
import { installRecorder, type RecorderPlugin } from "../lab/recorder.ts";

const skip = missingCluster("devices of resource claims on a cluster", helm, () =>
  missingBuild({ components: ["ipam-host-local"] }),
);
const driver = "nic.example.com";
const api = "resource.k8s.io/v1";

function device(name: string, deviceId: string): object {
  const attributes = {
    "k8s.cni.cncf.io/deviceID": { string: deviceId },
    "k8s.cni.cncf.io/resourceName": { string: "example.com/nic" },
  };
  return { name, attributes };
}

describe.skipIf(skip)("devices of resource claims with the chart on a real cluster", () => {
  let cluster: Cluster;
  let resources: ResourceDriver | undefined;
  let nics: RecorderPlugin;
  beforeAll(async () => {
    cluster = await clusterWithPlexus("--set", "dynamicResources.enabled=true");
    const [node] = cluster.nodes;
    // The kubelet brings the changed ConfigMap to the daemon, which then writes its configuration anew.
    const configuration = join(node.disk, "etc", "cni", "net.d", "00-plexus.conflist");
    const written = (): void => {
      if (!readFileSync(configuration, "utf8").includes("resourceClaims"))
        throw new Error(`${configuration} lacks resourceClaims`);
    };
    await vi.waitFor(written, { timeout: 90_000, interval: 200 });
    nics = installRecorder(join(node.disk, "opt", "cni", "bin"), "nic");
    resources = await startResourceDriver(node, driver);
    await cluster.apply(
      {
        apiVersion: api,
        kind: "ResourceSlice",
        metadata: { name: "nics" },
        spec: {
          driver,
          nodeName: node.name,
          pool: { name: "nics", generation: 1, resourceSliceCount: 1 },
          devices: ["1", "2", "3"].map((each) => device(`vf-${each}`, `0000:18:02.${each}`)),
        },
      },
      {
        apiVersion: api,
        kind: "DeviceClass",
        metadata: { name: "nics" },
        spec: { extendedResourceName: "example.com/nic", selectors: [{ cel: { expression: `device.driver == "${driver}"` } }] },
      },
      {
        apiVersion: api,
        kind: "ResourceClaimTemplate",
        metadata: { name: "two-nics", namespace: "default" },
        spec: { spec: { devices: { requests: [{ name: "nics", exactly: { deviceClassName: "nics", count: 2 } }] } } },
      },
      {
        apiVersion: "k8s.cni.cncf.io/v1",
        kind: "NetworkAttachmentDefinition",
        metadata: {
          name: "nic",
          namespace: "default",
          annotations: { "k8s.v1.cni.cncf.io/resourceName": "example.com/nic" },
        },
        spec: { config: JSON.stringify({ cniVersion: "1.0.0", name: "nic", plugins: [{ type: "nic" }] }) },
      },
    );
  }, 300_000);
  afterAll(async () => {
    resources?.stop();
    if (cluster === undefined) return;
    await cluster.kubectl("delete", "resourceslices,deviceclasses,resourceclaimtemplates", "--all");
    await cluster.stop();
  });

  const ready = async (pod: object, name: string): Promise<void> => {
    await cluster.apply(pod);
    await cluster.succeed("wait", "--for=condition=Ready", "--timeout=120s", `pod/${name}`).catch(async (error: unknown) => {
      const objects = await cluster.succeed("get", "pods,resourceclaims", "-o", "yaml");
      throw new Error(`${String(error)}\n${objects}\n${await explained(cluster)}`, { cause: error });
    });
  };
  const added = (): readonly unknown[] =>
    nics
      .calls()
      .filter(({ env }) => env["CNI_COMMAND"] === "ADD")
      .map(({ stdin }) => (JSON.parse(stdin) as { readonly deviceID?: unknown }).deviceID);

  test("MA-05: two networks get the two devices that the scheduler allocated, though no container names the claim", async () => {
    const annotations = { "k8s.v1.cni.cncf.io/networks": "nic,nic" };
    const resourceClaims = [{ name: "nics", resourceClaimTemplateName: "two-nics" }];
    await ready(toolsPod("claimed", { annotations, spec: { resourceClaims, terminationGracePeriodSeconds: 1 } }), "claimed");
    const { results } = (
      JSON.parse(await cluster.succeed("get", "resourceclaims", "-o", "json")) as {
        readonly items: readonly [
          { readonly status: { readonly allocation: { readonly devices: { readonly results: readonly { device: string }[] } } } },
        ];
      }
    ).items[0].status.allocation.devices;
    expect(results).toHaveLength(2);
    expect(added()).toEqual(results.map(({ device: each }) => each.replace("vf-", "0000:18:02.")));
    expect([...(resources?.prepared ?? [])]).toEqual([expect.stringMatching(/^default\/claimed-nics-/)]);
    await cluster.succeed("delete", "pod", "claimed", "--timeout=120s");
  });

  test("MA-05: an extended resource that a claim backs gives a network its device", async () => {
    nics.clear();
    const limits = { "example.com/nic": "1" };
    const spec = {
      containers: [{ name: "main", image: toolsImage, imagePullPolicy: "Never", resources: { limits } }],
      terminationGracePeriodSeconds: 1,
    };
    await ready(toolsPod("extended", { annotations: { "k8s.v1.cni.cncf.io/networks": "nic" }, spec }), "extended");
    expect(added()).toEqual([expect.stringMatching(/^0000:18:02\.[123]$/)]);
    await cluster.succeed("delete", "pod", "extended", "--timeout=120s");
  });
});
