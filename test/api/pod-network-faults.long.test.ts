// plexus-controller behind faults of a real API server: killed at its writes, conflicts, lost answers, gaps of the watches, a slow server. After each
// fault conditions, finalizers and gates end right.

import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import type { ApiObjects, ObjectAnswer } from "../../host/cluster/kube/api-objects.ts";
import { startController, type TestController } from "../lab/controller.ts";
import { objectsOf } from "../lab/kube/apply.ts";
import type { ApiServer } from "../lab/kube/api-server.ts";
import { sharedApiServer } from "../lab/kube/shared-api-server.ts";
import { kubeApi } from "../lab/kube/binaries.ts";
import { type FaultProxy, type ProxyFault, type SeenRequest, startFaultProxy } from "../lab/kube/fault-proxy.ts";
import { networkObjects } from "../lab/kube/network-objects.ts";
import { networkRequests } from "../lab/kube/network-requests.ts";
import { create, servePodNetworks, untilGated } from "../lab/kube/serve-pod-networks.ts";
import { missing, privateNamespaces } from "../lab/requires.ts";
import { allowAll } from "../lab/kube/allow-all.ts";

const { attachment, pod, podNetwork } = networkObjects;
const networks = "/apis/plexus.dev/v1alpha1/podnetworks";
const attachments = "/apis/plexus.dev/v1alpha1/namespaces/shop/podnetworkattachments";
const pods = "/api/v1/namespaces/shop/pods";
const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const chain = { group: "k8s.cni.cncf.io", kind: "network-attachment-definitions", name: "chain", namespace: "shop" };
const inUse = "plexus.dev/in-use";

/** A write of the controller's work: neither its Lease nor an Event. */
function isWork({ method, path }: SeenRequest): boolean {
  return method !== "GET" && !path.includes("/leases") && !path.includes("/events");
}

function isWatch({ path }: SeenRequest): boolean {
  return path.includes("watch=1");
}

function soon<T>(check: () => Promise<T>): Promise<T> {
  return vi.waitFor(check, { timeout: 60_000, interval: 200 });
}

/** The finalizers and the phase of an object; `gone` without the object. */
function stateOf(answer: ObjectAnswer): object | string {
  if (answer.kind === "absent") return "gone";
  if (answer.kind !== "object") return answer.why;
  const { metadata, status } = answer.object as {
    readonly metadata: { readonly finalizers?: readonly string[] };
    readonly status?: { readonly phase?: string; readonly conditions?: readonly { readonly reason: string }[] };
  };
  return {
    finalizers: metadata.finalizers ?? [],
    phase: status?.phase,
    reasons: status?.conditions?.map(({ reason }) => reason).toSorted(),
  };
}

describe.skipIf(missing("plexus-controller behind faults", privateNamespaces, kubeApi))("plexus-controller behind faults", () => {
  let api: ApiServer;
  let proxy: FaultProxy;
  let objects: ApiObjects;
  let kubeconfig = "";
  let started = 0;
  /** The replicas that run. */
  const replicas = new Set<TestController>();

  /** A replica with a Lease of its own, so that it need not wait for the end of its killed predecessor's. */
  const start = async (): Promise<TestController> => {
    started += 1;
    const args = ["--pod-networks", "--lease-name", `lease${started}`];
    const replica = await startController({ identity: `c${started}`, kubeconfig, args });
    replicas.add(replica);
    return replica;
  };
  const killAll = async (): Promise<void> => {
    await Promise.all([...replicas].map((replica) => replica.kill()));
    replicas.clear();
  };

  /** Two networks, of which the pod uses one through an attachment. */
  const createSet = async (name: string): Promise<void> => {
    await create(objects, podNetwork(`${name}-n`, { parametersRefs: [chain] }));
    await create(objects, podNetwork(`${name}-m`, { parametersRefs: [chain] }));
    await create(objects, attachment(`${name}-a`, `${name}-n`));
    const text = [{ podNetworkName: "default" }, { podNetworkName: `${name}-m` }, { podNetworkAttachmentName: `${name}-a` }];
    await create(objects, pod(`${name}-p`, JSON.stringify(text)));
  };
  const removeSet = async (name: string): Promise<void> => {
    for (const path of [`${networks}/${name}-n`, `${networks}/${name}-m`, `${attachments}/${name}-a`]) await objects.remove(path);
    await api.deletePod("shop", `${name}-p`);
  };
  const expectUsed = async (name: string): Promise<void> => {
    const used = { finalizers: [inUse], phase: "InUse" };
    await soon(async () => {
      const paths = [`${networks}/${name}-n`, `${networks}/${name}-m`, `${attachments}/${name}-a`];
      const states = await Promise.all(paths.map(async (path) => stateOf(await objects.get(path))));
      expect(states).toMatchObject([used, used, used]);
      const gated = await objects.get(`${pods}/${name}-p`);
      expect(gated).toMatchObject({ object: { metadata: { labels: { "plexus.dev/networks": "open" } } } });
      expect(gated).not.toMatchObject({ object: { spec: { schedulingGates: expect.anything() } } });
    });
  };
  const expectGone = async (name: string): Promise<void> => {
    await soon(async () => {
      const paths = [`${networks}/${name}-n`, `${networks}/${name}-m`, `${attachments}/${name}-a`];
      const states = await Promise.all(paths.map(async (path) => stateOf(await objects.get(path))));
      expect(states).toEqual(["gone", "gone", "gone"]);
    });
  };
  /** One set comes and another one goes under a fault; both end right. */
  const expectRightEnd = async (name: string, decide: (request: SeenRequest) => ProxyFault | undefined): Promise<void> => {
    await createSet(`${name}-old`);
    if (replicas.size === 0) await start();
    await expectUsed(`${name}-old`);
    proxy.script(decide);
    await Promise.all([createSet(`${name}-new`), removeSet(`${name}-old`)]);
    await Promise.all([expectUsed(`${name}-new`), expectGone(`${name}-old`)]);
    await removeSet(`${name}-new`);
    await expectGone(`${name}-new`);
  };

  beforeAll(async () => {
    api = await sharedApiServer({ alsoAllowed: networkRequests });
    objects = objectsOf(api.adminKubeconfig);
    await allowAll(objects);
    await api.network("shop", "chain", [{ type: "tuning", mtu: 1400 }]);
    proxy = await startFaultProxy(api);
    kubeconfig = await proxy.kubeconfig();
  });
  afterEach(() => proxy?.script(() => undefined));
  afterAll(async () => {
    await killAll();
    objects?.close();
    await proxy?.dispose();
    await api?.dispose();
  });

  test("a controller that is older than the kinds creates the default PodNetwork when they come", async () => {
    const early = await start();
    await soon(async () => expect(await early.leads()).toBe(true));
    await servePodNetworks(api, objects);
    await untilGated(api, objects);
    await soon(async () => expect(stateOf(await objects.get(`${networks}/default`))).toMatchObject({ phase: "Ready" }));
  });

  test("a controller that is killed at each of its first 20 writes, before or after the server carried the write out, leaves work that the next one ends", async () => {
    const names = ["x", "y", "z"];
    const killedAt = new Set<string>();
    let replica = replicas.values().next().value ?? (await start());
    for (let write = 1; write <= 20; write++) {
      const killed = Promise.withResolvers<void>();
      let writes = 0;
      const victim = replica;
      proxy.script((request) => {
        if (!isWork(request) || ++writes !== write) return undefined;
        killedAt.add(request.path.replace(/\/[xyz]\d+-./, ""));
        if (write % 2 === 0) return { lose: () => victim.kill().then(killed.resolve) };
        return { first: () => victim.kill().then(killed.resolve), reset: true };
      });
      await Promise.all(names.map((name) => createSet(`${name}${write}`)));
      if (write > 1) await Promise.all(names.map((name) => removeSet(`${name}${write - 1}`)));
      await killed.promise;
      replicas.delete(victim);
      proxy.script(() => undefined);
      replica = await start();
      await Promise.all(names.map((name) => expectUsed(`${name}${write}`)));
      if (write > 1) await Promise.all(names.map((name) => expectGone(`${name}${write - 1}`)));
    }
    // Finalizers, statuses and gates were among the writes.
    expect([...killedAt]).toEqual(expect.arrayContaining([networks, `${networks}/status`]));
    await Promise.all(names.map((name) => removeSet(`${name}20`)));
    await Promise.all(names.map((name) => expectGone(`${name}20`)));
  });

  test("a conflict at the first write of each object, which another client changed meanwhile, is settled by the object's new state", async () => {
    let conflicts = 0;
    await expectRightEnd("conflict", (request) => {
      if (!isWork(request) || request.earlier > 0 || !request.path.includes("plexus.dev")) return undefined;
      conflicts += 1;
      const path = request.path.replace(/\/status$/, "");
      return { first: () => objects.patch(path, { metadata: { annotations: { change: String(conflicts) } } }) };
    });
    expect(conflicts).toBeGreaterThan(5);
  });

  test("two controllers that lead at once, whose answers are lost at the first write of each object, end in the same state", async () => {
    await start();
    let lost = 0;
    await expectRightEnd("lost", (request) => {
      if (!isWork(request) || request.earlier > 0) return undefined;
      lost += 1;
      return { lose: async () => undefined };
    });
    expect(lost).toBeGreaterThan(5);
    await killAll();
  });

  test("changes in a gap of the watches, whose version is gone afterwards, are found by a new list", async () => {
    await createSet("gap-old");
    await start();
    await expectUsed("gap-old");
    proxy.script((request) => (isWatch(request) ? { reset: true } : undefined));
    proxy.cut();
    await Promise.all([createSet("gap-new"), removeSet("gap-old")]);
    const watches = new Map<string, number>();
    proxy.script((request) => {
      if (!isWatch(request)) return undefined;
      const [collection = ""] = request.path.split("?");
      const earlier = watches.get(collection) ?? 0;
      watches.set(collection, earlier + 1);
      const status = JSON.stringify({ kind: "Status", apiVersion: "v1", code: 410, reason: "Expired", message: "too old" });
      // The server sends 410 as the answer, or as an event of a watch that it has accepted.
      if (earlier === 0) return { answer: { status: 200, body: `{"type":"ERROR","object":${status}}\n` } };
      return earlier === 1 ? { answer: { status: 410, body: status } } : undefined;
    });
    await Promise.all([expectUsed("gap-new"), expectGone("gap-old")]);
    expect([...watches.values()].filter((count) => count > 1)).toHaveLength(4);
    proxy.script(() => undefined);
    await removeSet("gap-new");
    await expectGone("gap-new");
  });

  test("a slow server delays the work and changes nothing of its end", async () => {
    await expectRightEnd("slow", () => ({ delayMs: 150 }));
  });

  test("a controller that is killed amid the documented removal leaves no finalizer behind, also when one kind is gone before the other", async () => {
    await createSet("last");
    const victim = replicas.values().next().value ?? (await start());
    await expectUsed("last");
    const killed = Promise.withResolvers<void>();
    const absent = (kind: string): Promise<void> =>
      soon(async () => expect((await objects.get(`${crds}/${kind}.plexus.dev`)).kind).toBe("absent"));
    proxy.script(({ method, path }) => {
      if (method !== "PATCH" || !path.startsWith(`${networks}/last`)) return undefined;
      return {
        first: () =>
          absent("podnetworkattachments")
            .then(() => victim.kill())
            .then(killed.resolve),
        reset: true,
      };
    });
    await objects.remove(`${crds}/podnetworkattachments.plexus.dev`);
    await objects.remove(`${crds}/podnetworks.plexus.dev`);
    await api.deletePod("shop", "last-p");
    await killed.promise;
    replicas.delete(victim);
    proxy.script(() => undefined);
    await start();
    await absent("podnetworks");
  });
});
