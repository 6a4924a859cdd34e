// `helm install` and `helm uninstall` on a node whose default network works and whose pods run.

import { existsSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { Cluster } from "../lab/cluster/cluster.ts";
import { leftOn, nothingLeft } from "../lab/cluster/left.ts";
import { importShippedPlexus } from "../lab/cluster/plexus-image.ts";
import { toolsDeployment, toolsPod } from "../lab/cluster/pods.ts";
import { clusterWithImage } from "../lab/cluster/ready-cluster.ts";
import { deployPlexus, explained, removePlexus } from "../lab/cluster/release.ts";
import { storage } from "../lab/cluster/storage.ts";
import { missingCluster } from "../lab/cluster/requirements.ts";
import { imagePrograms } from "../lab/image/programs.ts";
import { helm } from "../lab/kube/helm.ts";
import { missingBuild } from "../lab/plexus.ts";
import { missing } from "../lab/requires.ts";

const skip = missingCluster("helm install on a cluster", helm, () => missingBuild({ components: ["ipam-host-local"] }));
// Without buildah the cluster has an image of the build in dist/ only.
const unshipped = skip || missing("the image of deploy/Containerfile on a cluster", imagePrograms);

const tag = unshipped ? "v1" : "shipped";

describe.skipIf(skip)("helm install on a node with pods", () => {
  let cluster: Cluster;
  let shippedDigests: readonly string[] = [];
  beforeAll(async () => {
    cluster = await clusterWithImage();
    if (!unshipped) shippedDigests = await importShippedPlexus(cluster.nodes, tag);
    await cluster.apply(toolsDeployment("before", 2));
    await cluster.succeed("rollout", "status", "deployment/before", "--timeout=120s");
  }, 1_800_000);
  afterAll(async () => cluster?.stop());

  const addressesOf = (label: string): Promise<string> =>
    cluster.succeed("get", "pods", "-l", `app=${label}`, "-o", "jsonpath={.items[*].status.podIP}");

  test("is ready, and pods that ran before keep their addresses", async () => {
    const addresses = await addressesOf("before");
    await deployPlexus(cluster, "install", tag);
    expect(await addressesOf("before")).toBe(addresses);
    const [first = "", second = ""] = addresses.split(" ");
    const { items } = await cluster.core.listNamespacedPod({ namespace: "default", labelSelector: "app=before" });
    const from = items.find(({ status: its }) => its?.podIP === first)?.metadata?.name ?? "";
    await cluster.succeed("exec", from, "--", "ping", "-c", "1", "-W", "2", second);
  });

  test.skipIf(unshipped)("the kubelet runs the image of deploy/Containerfile", async () => {
    const { items } = await cluster.core.listNamespacedPod({
      namespace: "kube-system",
      labelSelector: "app.kubernetes.io/name=plexus",
    });
    const statuses = items.flatMap(({ status }) => [
      ...(status?.initContainerStatuses ?? []),
      ...(status?.containerStatuses ?? []),
    ]);
    expect(statuses.length).toBeGreaterThan(1);
    const run = statuses.map(({ imageID }) => imageID.replace(/^.*sha256:/u, "sha256:"));
    expect(run.filter((digest) => !shippedDigests.includes(digest))).toEqual([]);
  });

  test("the next pods have the networks that they select, and their status", async () => {
    await cluster.apply(storage);
    await cluster.apply(toolsDeployment("web", 3, { annotations: { "k8s.v1.cni.cncf.io/networks": "storage@data0" } }));
    await cluster.succeed("rollout", "status", "deployment/web", "--timeout=120s").catch(async (error: unknown) => {
      throw new Error(`${String(error)}\n${await explained(cluster)}`, { cause: error });
    });
    const { items } = await cluster.core.listNamespacedPod({ namespace: "default", labelSelector: "app=web" });
    expect(items).toHaveLength(3);
    for (const { metadata, status } of items) {
      const address = ["exec", metadata?.name ?? "", "--", "ip", "-o", "-4", "address", "show", "dev", "data0"];
      expect(await cluster.succeed(...address)).toMatch(/ 10\.20\.0\.\d+\/24 /);
      expect(JSON.parse(metadata?.annotations?.["k8s.v1.cni.cncf.io/network-status"] ?? "[]")).toMatchObject([
        { name: "pods", interface: "eth0", default: true, ips: [status?.podIP] },
        { name: "default/storage", interface: "data0", ips: [expect.stringMatching(/^10\.20\.0\.\d+$/)] },
      ]);
    }
  });

  test("deleted pods, also those that ran before, leave nothing", async () => {
    const [node] = cluster.nodes;
    await cluster.succeed("delete", "deployment/web", "deployment/before", "--cascade=foreground", "--timeout=120s");
    await expect.poll(() => leftOn(node)).toEqual(nothingLeft);
  });

  test("after helm uninstall the next pod starts on the default network, and Plexus' configuration is gone", async () => {
    const [node] = cluster.nodes;
    await removePlexus(cluster);
    await cluster.apply(toolsPod("after"));
    await cluster.succeed("wait", "--for=condition=Ready", "--timeout=120s", "pod/after");
    expect(existsSync(join(node.disk, "etc", "cni", "net.d", "00-plexus.conflist"))).toBe(false);
    await cluster.succeed("delete", "pod/after", "--timeout=120s");
    await expect.poll(() => leftOn(node)).toEqual(nothingLeft);
  });
});
