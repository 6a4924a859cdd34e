// Devices by dynamic resource allocation, from a real API server with resource.k8s.io/v1 through the installed binary.

import { join } from "node:path";

import { CoreV1Api, type KubernetesObject, ResourceV1Api } from "@kubernetes/client-node";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";

import { type ApiServer, type CreatedPod, plexusUser } from "../lab/kube/api-server.ts";
import { sharedApiServer } from "../lab/kube/shared-api-server.ts";
import { clientConfig } from "../lab/kube/client-config.ts";
import { applyFile } from "../lab/kube/admin.ts";
import { root } from "../lab/compiled.ts";
import { installRecorder, type RecorderPlugin } from "../lab/recorder.ts";
import { nothing } from "../lab/stage.ts";
import { missingForKube, type Node, openNode } from "../lab/kube/node.ts";

const driver = "nic.example.com";
// A name of this file alone: the kubelet's directory is shared with test/node/attach/device-info.test.ts, whose pod has the same name.
const resource = "example.com/claimed-nic";
const claimsOn = { kubernetes: { resourceClaims: true } };

type Result = Readonly<{ request: string; driver: string; pool: string; device: string }>;

function allocated(device: string, request = "nics"): Result {
  return { request, driver, pool: "nics", device };
}

describe.skipIf(missingForKube("devices of resource claims"))("devices of resource claims", () => {
  let api: ApiServer;
  let core: CoreV1Api;
  let resources: ResourceV1Api;
  let node: Node;
  let sriov: RecorderPlugin;
  beforeAll(async () => {
    api = await sharedApiServer({ alsoAllowed: ["get resourceclaims", "list resourceslices"] });
    const config = clientConfig(api.adminKubeconfig);
    core = config.makeApiClient(CoreV1Api);
    resources = config.makeApiClient(ResourceV1Api);
    await api.network("shop", "nic", [{ type: "sriov" }], { "k8s.v1.cni.cncf.io/resourceName": resource });
    await slice("nics-2", "node", 2, { "vf-1": "0000:18:02.1", "vf-2": "0000:18:02.2", gpu: undefined });
    // Slices of the pool's previous generation, and of another node with devices of the same names.
    await slice("nics-1", "node", 1, { "vf-1": "0000:17:02.1", "vf-old": "0000:17:02.9" });
    await slice("elsewhere", "other", 2, { "vf-far": "0000:16:02.1" });
  });
  afterAll(() => api?.dispose());
  beforeEach(() => {
    node = openNode(api);
    sriov = installRecorder(node.plexus.cniPath, "sriov");
  });
  afterEach(async () => {
    node.dispose();
    await api.deletePod("shop", "web").catch(() => undefined);
    await resources.deleteCollectionNamespacedResourceClaim({ namespace: "shop" });
  });

  /** Publishes a slice of the driver's pool `nics`, with devices by name and their IDs. */
  const slice = async (
    name: string,
    nodeName: string,
    generation: number,
    devices: Readonly<Record<string, string | undefined>>,
  ): Promise<void> => {
    await resources.createResourceSlice({
      body: {
        metadata: { name },
        spec: {
          driver,
          nodeName,
          pool: { name: "nics", generation, resourceSliceCount: 1 },
          devices: Object.entries(devices).map(([device, deviceId]) => ({
            name: device,
            attributes:
              deviceId === undefined
                ? {}
                : {
                    "k8s.cni.cncf.io/deviceID": { string: deviceId },
                    "k8s.cni.cncf.io/resourceName": { string: resource },
                  },
          })),
        },
      },
    });
  };

  /** A claim as the scheduler leaves it: its devices allocated, and reserved for the pod. */
  const claim = async (name: string, { uid }: Pick<CreatedPod, "uid">, results: readonly Result[]): Promise<void> => {
    const requests = [...new Set(results.map(({ request }) => request))];
    const body = {
      metadata: { name, namespace: "shop" },
      spec: { devices: { requests: requests.map((each) => ({ name: each, exactly: { deviceClassName: "nics" } })) } },
    };
    const created = await resources.createNamespacedResourceClaim({ namespace: "shop", body });
    const status = {
      allocation: { devices: { results: [...results] } },
      reservedFor: [{ resource: "pods", name: "web", uid }],
    };
    await resources.replaceNamespacedResourceClaimStatus({ namespace: "shop", name, body: { ...created, status } });
  };
  /** A pod with these entries of `spec.resourceClaims`, this status, and these extended resources. */
  const pod = async (
    selection: unknown,
    resourceClaims: readonly object[],
    status?: object,
    extended: Readonly<Record<string, string>> = {},
  ): Promise<CreatedPod> => {
    const annotations = { "k8s.v1.cni.cncf.io/networks": typeof selection === "string" ? selection : JSON.stringify(selection) };
    const body: KubernetesObject & { readonly spec: object } = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "web", namespace: "shop", annotations },
      spec: {
        containers: [{ name: "main", image: "none", resources: { limits: extended } }],
        nodeName: "node",
        automountServiceAccountToken: false,
        resourceClaims,
      },
    };
    const created = await api.admin.create(body);
    const uid = created.metadata?.uid ?? "";
    if (status !== undefined) {
      const now = await core.readNamespacedPod({ namespace: "shop", name: "web" });
      await core.replaceNamespacedPodStatus({ namespace: "shop", name: "web", body: { ...now, status } });
    }
    return {
      namespace: "shop",
      name: "web",
      uid,
      args: `IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web;K8S_POD_UID=${uid}`,
    };
  };
  const own = [{ name: "nics", resourceClaimName: "web-nics" }];
  const deviceIds = (): readonly unknown[] =>
    sriov.calls().map(({ stdin }) => (JSON.parse(stdin) as { readonly deviceID?: unknown }).deviceID);
  const requestsDuring = async (act: () => Promise<unknown>): Promise<readonly string[]> => {
    const before = api.audit(plexusUser).length;
    await act();
    return api
      .audit(plexusUser)
      .slice(before)
      .map(({ verb, resource: kind }) => `${verb} ${kind}`)
      .filter((each) => each !== "create events");
  };

  test("MA-05: without the rights the pod is refused, and without the key no claim is read", async () => {
    const web = await pod("nic", own);
    await claim("web-nics", web, [allocated("vf-1")]);
    const refused = await node.call("ADD", node.attaching(web, { kubernetes: { resourceClaims: true, budgetMs: 60_000 } }));
    expect([refused.status, refused.json]).toMatchObject([
      1,
      {
        code: 11,
        msg: expect.stringMatching(
          /network shop\/nic: .*HTTP 403: .*cannot get resource .*resourceclaims.*deploy\/rbac-resource-claims\.yaml/,
        ),
      },
    ]);
    const attaching = node.attaching(web);
    const requests = await requestsDuring(async () => {
      const added = await node.call("ADD", attaching);
      expect([added.status, added.stderr]).toEqual([0, expect.stringMatching(/the kubelet has allocated no further device of/)]);
    });
    expect(requests).toEqual(["get pods", "get network-attachment-definitions", "patch pods/status"]);
    expect(deviceIds()).toEqual([undefined]);
    await node.succeed("DEL", attaching);
  });

  describe("with the rights of deploy/rbac-resource-claims.yaml", () => {
    beforeAll(() => applyFile(api.admin, join(root, "deploy", "rbac-resource-claims.yaml")));

    test("MA-05: two networks get the devices of a pod's claims in order, by template and by name, of the newest generation", async () => {
      const status = { resourceClaimStatuses: [{ name: "made", resourceClaimName: "web-made-x" }] };
      const entries = [{ name: "made", resourceClaimTemplateName: "nics" }, ...own];
      const web = await pod("nic,nic", entries, status);
      await claim("web-made-x", web, [allocated("gpu"), allocated("vf-2")]);
      await claim("web-nics", web, [allocated("vf-1")]);
      const attaching = node.attaching(web, claimsOn);
      const requests = await requestsDuring(() => node.succeed("ADD", attaching));
      expect(deviceIds()).toEqual(["0000:18:02.2", "0000:18:02.1"]);
      expect(requests).toEqual([
        "get pods",
        "get network-attachment-definitions",
        "get pods",
        "get resourceclaims",
        "get resourceclaims",
        "list resourceslices",
        "get network-attachment-definitions",
        "patch pods/status",
      ]);
      expect(await requestsDuring(() => node.succeed("DEL", attaching))).toEqual([]);
      expect(node.left()).toEqual(nothing);
    });

    test("MA-05: an extended resource's claim gives its device, and a pod without such networks causes no request for claims", async () => {
      await api.network("shop", "extended", [{ type: "sriov" }], { "k8s.v1.cni.cncf.io/resourceName": "example.com/fast" });
      const status = {
        extendedResourceClaimStatus: {
          resourceClaimName: "web-extended",
          requestMappings: [{ containerName: "main", resourceName: "example.com/fast", requestName: "container-0-request-0" }],
        },
      };
      const web = await pod("extended", [], status, { "example.com/fast": "1" });
      await claim("web-extended", web, [allocated("vf-2", "container-0-request-0")]);
      const attaching = node.attaching(web, claimsOn);
      await node.succeed("ADD", attaching);
      expect(deviceIds()).toEqual(["0000:18:02.2"]);
      await node.succeed("DEL", attaching);
      await api.deletePod("shop", "web");
      await api.network("shop", "plain", [{ type: "sriov" }]);
      const plain = node.attaching(await pod("plain", own), claimsOn);
      expect(await requestsDuring(() => node.succeed("ADD", plain))).not.toContain("get resourceclaims");
      await node.succeed("DEL", plain);
    });

    test("MA-05: a claim that is another pod's, or absent, fails ADD with code 11, and nothing is attached", async () => {
      const web = await pod("nic", own);
      await claim("web-nics", { uid: "another" }, [allocated("vf-1")]);
      const stolen = await node.call("ADD", node.attaching(web, claimsOn));
      if (stolen.status === 0) throw new Error(`the ADD succeeded: ${stolen.stderr}`);
      expect([stolen.status, stolen.json]).toMatchObject([
        1,
        {
          code: 11,
          msg: expect.stringMatching(/network shop\/nic: resource claim shop\/web-nics of pod web is not reserved for the pod/),
        },
      ]);
      await resources.deleteNamespacedResourceClaim({ namespace: "shop", name: "web-nics" });
      const absent = await node.call("ADD", node.attaching(web, claimsOn));
      expect(absent.json).toMatchObject({
        code: 11,
        msg: expect.stringMatching(/is not in the API resource\.k8s\.io\/v1: .*not found/),
      });
      expect([sriov.calls(), node.left()]).toEqual([[], nothing]);
    });

    test("MA-05: a named device must be of a claim of the pod, and a device of an old generation or another node is none", async () => {
      const web = await pod([{ name: "nic", deviceID: "0000:18:02.2" }], own);
      await claim("web-nics", web, [allocated("vf-1"), allocated("vf-old"), allocated("vf-far")]);
      const refused = await node.call("ADD", node.attaching(web, claimsOn));
      expect([refused.status, refused.json]).toMatchObject([
        1,
        {
          code: 7,
          msg: expect.stringMatching(
            /the kubelet and the pod's resource claims have not allocated it to the pod.*device nics\/vf-old of driver nic\.example\.com is in no ResourceSlice of the node/,
          ),
        },
      ]);
      await api.deletePod("shop", "web");
      await resources.deleteNamespacedResourceClaim({ namespace: "shop", name: "web-nics" });
      const again = await pod([{ name: "nic", deviceID: "0000:18:02.1" }, { name: "nic" }], own);
      await claim("web-nics", again, [allocated("vf-2"), allocated("vf-1")]);
      const attaching = node.attaching(again, claimsOn);
      await node.succeed("ADD", attaching);
      expect(deviceIds()).toEqual(["0000:18:02.1", "0000:18:02.2"]);
      await node.succeed("DEL", attaching);
    });
  });
});
