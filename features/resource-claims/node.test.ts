import type { ServerResponse } from "node:http";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type ScriptedApiServer, startScriptedApiServer } from "../../host/cluster/testing/scripted-api-server.ts";
import type { ClaimedDevices } from "./rules/claimed-devices.ts";
import type { Result } from "../../src/fault/result.ts";
import { claimedDevices } from "./node.ts";
import { kubeCluster } from "../../host/cluster/api/kube-cluster.ts";
import { systemClock } from "../../host/system/clock.ts";

const nic = "example.com/nic";
const pod = { namespace: "shop", name: "web", uid: "u" };

interface Answers {
  readonly pod: object;
  readonly claim: object;
  /** Answers the page of the slices with this number, from 0. */
  readonly slices: (page: number) => { readonly items: readonly unknown[]; readonly next?: string };
}

const device = (name: string, deviceId: string): object => ({
  name,
  attributes: { "k8s.cni.cncf.io/deviceID": { string: deviceId }, "k8s.cni.cncf.io/resourceName": { string: nic } },
});
const slice = (devices: readonly object[], { nodeName = "node", generation = 1, resourceSliceCount = 1 } = {}): object => ({
  metadata: { name: "s" },
  spec: { driver: "nic.example.com", nodeName, pool: { name: "nics", generation, resourceSliceCount }, devices },
});
const usual: Answers = {
  pod: {
    metadata: { ...pod },
    spec: { nodeName: "node", resourceClaims: [{ name: "nics", resourceClaimName: "nics" }] },
  },
  claim: {
    metadata: { namespace: "shop", name: "nics" },
    status: {
      reservedFor: [{ resource: "pods", name: "web", uid: "u" }],
      allocation: { devices: { results: [{ request: "r", driver: "nic.example.com", pool: "nics", device: "vf-1" }] } },
    },
  },
  slices: () => ({ items: [slice([device("vf-1", "0000:18:02.1")])] }),
};

describe("a pod's claimed devices from the API", () => {
  let api: ScriptedApiServer;
  beforeAll(async () => {
    api = await startScriptedApiServer();
  });
  afterAll(() => api.dispose());

  const ends: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0)) await end();
  });

  /** The devices, with the paths of the requests. */
  const claimed = async (
    answers: Partial<Answers> = {},
  ): Promise<{ readonly devices: Result<ClaimedDevices>; readonly paths: readonly string[] }> => {
    const { pod: podObject, claim, slices } = { ...usual, ...answers };
    const from = api.requests.length;
    let page = 0;
    api.script = ({ path }, response) => {
      if (path.startsWith("/apis/resource.k8s.io/v1/resourceslices?")) {
        const { items, next = "" } = slices(page++);
        answer(response, { metadata: { resourceVersion: "1", continue: next }, items });
      } else answer(response, path.endsWith("/pods/web") ? podObject : claim);
    };
    const cluster = kubeCluster({
      credentials: api.credentials,
      budgetMs: 240_000,
      sleep: () => Promise.resolve(),
      clock: systemClock,
      warn: () => undefined,
    });
    ends.push(() => cluster.end(0));
    if (cluster.api === undefined) throw new Error("this cluster is the API");
    const devices = await claimedDevices(cluster.api, pod);
    return { devices, paths: api.requests.slice(from).map(({ path }) => decodeURIComponent(path)) };
  };

  test("MA-05: the pod, its claim, and the slices of the claim's driver on the pod's node are read, and nothing else", async () => {
    const { devices, paths } = await claimed();
    expect(devices.ok && [devices.value.next(nic), devices.value.next(nic)]).toEqual(["0000:18:02.1", undefined]);
    expect(paths).toEqual([
      "/api/v1/namespaces/shop/pods/web",
      "/apis/resource.k8s.io/v1/namespaces/shop/resourceclaims/nics",
      "/apis/resource.k8s.io/v1/resourceslices?fieldSelector=spec.driver=nic.example.com,spec.nodeName=node&limit=8",
    ]);
    const none = await claimed({ pod: { metadata: { ...pod }, spec: {} } });
    expect([none.devices.ok, none.paths.length]).toEqual([true, 1]);
  });

  test("MA-05: slices on several pages are read, and an endless list is refused", async () => {
    const pages = [
      { items: [slice([device("vf-0", "x")], { resourceSliceCount: 2 })], next: "more" },
      { items: [slice([device("vf-1", "y")], { resourceSliceCount: 2 })] },
    ];
    const { devices } = await claimed({ slices: (page) => pages[page] ?? { items: [] } });
    expect(devices.ok && devices.value.next(nic)).toBe("y");
    const endless = await claimed({ slices: () => ({ items: [], next: "more" }) });
    expect(endless.devices).toMatchObject(
      refused(/ResourceSlices of driver nic\.example\.com on node node: there are more than 128/),
    );
    expect(endless.paths).toHaveLength(18);
  });

  test("MA-05: a device that is only on another node's slice is no device, and one whose pool is being published is waited for", async () => {
    const elsewhere = [slice([device("vf-1", "x")], { nodeName: "other" })];
    const { devices } = await claimed({ slices: () => ({ items: elsewhere }) });
    expect(devices.ok && [devices.value.next(nic), devices.value.notes]).toEqual([
      undefined,
      ["device nics/vf-1 of driver nic.example.com is in no ResourceSlice of the node"],
    ]);
    const newer = slice([], { generation: 2, resourceSliceCount: 2 });
    const partial = await claimed({ slices: () => ({ items: [slice([device("vf-1", "x")]), newer] }) });
    expect(partial.devices).toMatchObject(refused(/still publishing the pool's ResourceSlices for node node/));
  });

  test("MA-05: a pod that took the name of the runtime's pod gets no device", async () => {
    const { devices } = await claimed({ pod: { ...usual.pod, metadata: { ...pod, uid: "newer" } } });
    expect(devices).toMatchObject({ ok: false, fault: { kind: "POD_NOT_FOUND" } });
  });

  test("MA-05: claims of too many drivers are refused before their slices are read", async () => {
    const results = Array.from({ length: 9 }, (_, index) => ({ driver: `d${index}.example.com`, pool: "nics", device: "a" }));
    const claim = {
      metadata: { namespace: "shop", name: "nics" },
      status: { reservedFor: [{ resource: "pods", name: "web", uid: "u" }], allocation: { devices: { results } } },
    };
    const { devices, paths } = await claimed({ claim });
    expect([devices, paths.length]).toMatchObject([refused(/more than 8 drivers/), 2]);
  });
});

function refused(msg: RegExp): object {
  return {
    ok: false,
    fault: { kind: "RESOURCE_CLAIM_UNUSABLE", code: 11, msg: expect.stringMatching(msg) },
  };
}

function answer(response: ServerResponse, body: unknown): void {
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(body));
}
