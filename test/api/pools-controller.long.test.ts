// plexus-controller's part for pools on a real API server. The part runs in this process with a clock of the test's own, since a block is freed after
// a minute at least.

import { setTimeout as sleep } from "node:timers/promises";
import type { KubernetesObject } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { ApiObject, ApiObjects } from "../../host/cluster/kube/api-objects.ts";
import { EventQueue } from "../../host/cluster/events/event-queue.ts";
import { poolsPart } from "../../features/pools/controller/part.ts";
import { controllerMetricDefinitions } from "../../host/telemetry/metrics/controller-definitions.ts";
import { MetricsOf } from "../../host/telemetry/metrics/metrics.ts";
import { addressBlockObject } from "../../features/pools/rules/address-block.ts";
import {
  addressReservationObject,
  type ReservationHolder,
  type ReservationOwner,
} from "../../features/pools/rules/address-reservation.ts";
import { readAddress } from "../../src/net/ip.ts";
import { applyObjects, collectionOf, objectsOf } from "../lab/kube/apply.ts";
import type { ApiServer } from "../lab/kube/api-server.ts";
import { sharedApiServer } from "../lab/kube/shared-api-server.ts";
import { kubeApi } from "../lab/kube/binaries.ts";
import { poolObject, poolRequests } from "../lab/kube/pool-objects.ts";
import { partContext } from "../lab/kube/part-context.ts";
import { missing, privateNamespaces } from "../lab/requires.ts";
import { systemClock } from "../../host/system/clock.ts";

const group = "/apis/plexus.dev/v1alpha1";
const freeAfterSeconds = 60;

/** One term of a leader. */
interface Term {
  readonly log: readonly string[];
  readonly metrics: () => Promise<string>;
  /** Ends the term, as a killed controller does: what it knew is lost. */
  end(): Promise<void>;
}

interface Stored {
  readonly metadata: { readonly uid: string; readonly resourceVersion: string; readonly finalizers?: readonly string[] };
  readonly spec: { readonly holders?: readonly object[] };
  readonly status?: Readonly<Record<string, unknown>> & {
    readonly orphanedSince?: string;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason: string;
      readonly message: string;
    }[];
  };
}

interface PoolEvent {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly involvedObject: { readonly kind: string; readonly name: string };
}

function expectSoon<T>(check: () => Promise<T>): Promise<T> {
  return vi.waitFor(check, { timeout: 60_000, interval: 50 });
}

/** Several looks of the controller. */
function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 600));
}

function blockPath(name: string): string {
  return `${group}/addressblocks/${name}`;
}

/** The Event of an address whose owner is the claim of these tests. */
function freedEvent(address: string): string {
  return `Normal ReservationFreed: reservation storage.${address} is free: IPAMClaim shop/vm.storage.net1 is gone`;
}

function holder(node: string, podUid: string): ReservationHolder {
  return { node, pod: "db", podUid, containerId: "c", instance: undefined };
}

describe.skipIf(missing("plexus-controller's pools", privateNamespaces, kubeApi))("plexus-controller", () => {
  let api: ApiServer;
  let objects: ApiObjects;
  let clockMs = 0;
  let term: Term | undefined;

  const begin = (): Term => {
    const log: string[] = [];
    const metrics = new MetricsOf(controllerMetricDefinitions);
    const aborted = new AbortController();
    const warn = (text: string): number => log.push(text);
    const events = new EventQueue({ objects, clock: systemClock, warn, ended: () => undefined });
    const part = poolsPart({ now: () => clockMs, maxPauseMs: 100 })(
      partContext(objects, {
        metrics,
        log: (_, text) => log.push(text),
        event: (target, content) => events.add(target, content, systemClock.date()),
      }),
    );
    const ran = part.run(aborted.signal);
    const end = async (): Promise<void> => {
      aborted.abort();
      await ran;
    };
    return { log, metrics: () => metrics.text(), end };
  };
  const create = async (object: ApiObject & KubernetesObject): Promise<void> => {
    const made = await objects.create(collectionOf(object), object);
    if (made.kind !== "object") throw new Error(made.why);
  };
  const read = async (path: string): Promise<Stored | undefined> => {
    const answer = await objects.get(path);
    if (answer.kind !== "object" && answer.kind !== "absent") throw new Error(answer.why);
    return answer.kind === "object" ? (answer.object as unknown as Stored) : undefined;
  };
  const conditionOf = async (pool: string, type: string): Promise<string> => {
    const condition = (await read(`${group}/addresspools/${pool}`))?.status?.conditions?.find((each) => each.type === type);
    return `${condition?.status} ${condition?.reason}`;
  };
  /** The Events of a pool, as `TYPE REASON: MESSAGE`. */
  const eventsOf = async (pool: string): Promise<readonly string[]> => {
    const listed = await objects.list("/api/v1/namespaces/default/events");
    if (listed.kind !== "list") throw new Error(listed.why);
    return (listed.items as unknown as readonly PoolEvent[])
      .filter(({ involvedObject: { kind, name } }) => kind === "AddressPool" && name === pool)
      .map(({ type, reason, message }) => `${type} ${reason}: ${message}`);
  };
  const announced = (pool: string, event: string): Promise<void> =>
    expectSoon(async () => expect(await eventsOf(pool)).toContain(event));
  const makeNode = (name: string): Promise<void> => create({ apiVersion: "v1", kind: "Node", metadata: { name } });
  const removeNode = async (name: string): Promise<void> => void (await objects.remove(`/api/v1/nodes/${name}`));
  const makeBlock = (pool: string, index: number, node: string, first: bigint, last: bigint): Promise<void> => {
    const claim = { pool, index, span: { family: 4, first, last } as const, node, holder: "h", freeAfterSeconds };
    return create(addressBlockObject(claim) as ApiObject & KubernetesObject);
  };
  const claimBlock = (index: number, node: string): Promise<void> => {
    const first = 0x0a_32_00_00n + BigInt(index) * 64n;
    return makeBlock("storage", index, node, index === 0 ? first + 1n : first, first + (index === 1023 ? 62n : 63n));
  };
  const reserve = async (
    text: string,
    owner: Partial<ReservationOwner>,
    holders: readonly ReservationHolder[],
  ): Promise<string> => {
    const address = readAddress(text);
    if (address === undefined) throw new Error(text);
    const whole = { kind: "Pod", namespace: "shop", name: "db", uid: "none", pod: undefined, ifname: "net1", ...owner } as const;
    const object = addressReservationObject({ pool: "storage", address, owner: whole }, holders);
    await create(object as ApiObject & KubernetesObject);
    return `${group}/addressreservations/storage.${text}`;
  };
  const markOf = async (block: string): Promise<string | undefined> => (await read(blockPath(block)))?.status?.orphanedSince;
  const marked = (block: string): Promise<void> => expectSoon(async () => expect(await markOf(block)).toBeDefined());
  /** Lets the controller's clock pass the wait. */
  const passWait = (): void => void (clockMs += freeAfterSeconds * 1000);

  beforeAll(async () => {
    const others = ["nodes", "pods", "ipamclaims", "statefulsets", "namespaces", "events"];
    const requests = others.flatMap((each) =>
      ["get", "list", "watch", "create", "delete", "patch"].map((verb) => `${verb} ${each}`),
    );
    api = await sharedApiServer({ alsoAllowed: [...poolRequests, ...requests] });
    objects = objectsOf(api.adminKubeconfig);
    await applyObjects(objects, "deploy/helm/plexus/files/pools.yaml");
    await api.namespace("shop");
    const storage = poolObject("storage", [{ subnet: "10.50.0.0/16", static: ["10.50.255.0/24"] }], { freeAfterSeconds });
    await expectSoon(() => create({ ...storage, metadata: { name: "storage" } }));
    for (const node of ["n1", "n2"]) await makeNode(node);
    term = begin();
  });
  afterAll(async () => {
    await term?.end();
    objects?.close();
    await api?.dispose();
  });

  test("a pool gets its finalizer when a range is accepted, without the kind IPAMClaim, too, and then counts its blocks", async () => {
    await expectSoon(async () => expect(await conditionOf("storage", "Ready")).toBe("True Ready"));
    await applyObjects(objects, "deploy/crd-ipamclaims.yaml");
    await term?.end();
    term = begin();
    await claimBlock(3, "n1");
    await expectSoon(async () =>
      expect(await read(`${group}/addresspools/storage`)).toMatchObject({
        metadata: { finalizers: ["plexus.dev/blocks"] },
        status: {
          acceptedRanges: 1,
          blocks: { claimed: 1, orphaned: 0, foreign: 0 },
          addresses: [{ family: "IPv4", total: "65278", inBlocks: "64", free: "65214" }],
          static: { total: "255", reserved: 0 },
        },
      }),
    );
    // The controller's own watch of its status comes after the API's answer.
    await expectSoon(async () =>
      expect(await term?.metrics()).toContain('plexus_controller_pool_blocks{pool="storage",state="claimed"} 1'),
    );
  });

  test("of pools that overlap the younger is not accepted, and a range that was accepted stays so", async () => {
    // Without the policy, as if both had been created at the same moment.
    const binding = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/plexus-address-pools";
    await objects.remove(binding);
    await expectSoon(() => create({ ...poolObject("late", [{ subnet: "10.50.8.0/24" }]), metadata: { name: "late" } }));
    await expectSoon(async () => expect(await conditionOf("late", "Overlapping")).toBe("True Overlapping"));
    expect(await read(`${group}/addresspools/late`)).toMatchObject({ status: { acceptedRanges: 0 } });
    expect(await conditionOf("late", "Ready")).toBe("False Overlapping");
    expect(await conditionOf("storage", "Overlapping")).toBe("False NoOverlap");
    // An older pool that grows over an accepted range gets the condition itself.
    await create({ ...poolObject("new", [{ subnet: "10.99.0.0/24" }]), metadata: { name: "new" } });
    await expectSoon(async () => expect(await conditionOf("new", "Ready")).toBe("True Ready"));
    const ranges = [{ subnet: "10.50.8.0/24" }, { subnet: "10.99.0.0/16" }];
    await objects.patch(`${group}/addresspools/late`, { spec: { ranges } });
    await expectSoon(async () =>
      expect(await read(`${group}/addresspools/late`)).toMatchObject({
        status: { conditions: [{ observedGeneration: 2 }, {}, { type: "Overlapping", status: "True" }] },
      }),
    );
    // A change of any pool makes the work of all pools due: time for this one.
    await sleep(1000);
    expect(await conditionOf("new", "Overlapping")).toBe("False NoOverlap");
    await objects.remove(`${group}/addresspools/late`);
  });

  test("a pool is Full, with an Event, from the claim of its last address until a block is given back", async () => {
    // 10.60.0.2 and 10.60.0.3 in blocks of one address each.
    const first = 0x0a_3c_00_02n;
    const range = { subnet: "10.60.0.0/24", first: "10.60.0.2", last: "10.60.0.3" };
    await create({ ...poolObject("tiny", [range], { blockSize: 1 }), metadata: { name: "tiny" } });
    await expectSoon(async () => expect(await conditionOf("tiny", "Ready")).toBe("True Ready"));
    const free = async (count: string): Promise<void> =>
      expectSoon(async () =>
        expect(await read(`${group}/addresspools/tiny`)).toMatchObject({ status: { addresses: [{ total: "2", free: count }] } }),
      );
    await makeBlock("tiny", 0, "n1", first, first);
    await free("1");
    expect(await conditionOf("tiny", "Full")).toBe("False FreeAddresses");
    await makeBlock("tiny", 1, "n1", first + 1n, first + 1n);
    await free("0");
    expect(await conditionOf("tiny", "Full")).toBe("True NoFreeAddress");
    const why = "every IPv4 address is in one of the 2 claimed blocks; append a range, or free blocks";
    await announced("tiny", `Warning NoFreeAddress: ${why}`);
    await objects.remove(blockPath("tiny-0"));
    await free("1");
    expect(await conditionOf("tiny", "Full")).toBe("False FreeAddresses");
    await announced("tiny", "Normal FreeAddresses: addresses are free");
    expect((await eventsOf("tiny")).filter((event) => event.includes("FreeAddress"))).toHaveLength(2);
    await objects.remove(blockPath("tiny-1"));
  });

  test("blocks of a node are freed after the wait, only when the Node object is gone and no pod is bound to it", async () => {
    const pod = await api.pod("shop", "last");
    const node = (await read("/api/v1/namespaces/shop/pods/last")) as unknown as { readonly spec: { readonly nodeName: string } };
    const name = node.spec.nodeName;
    await objects.remove(`/api/v1/nodes/${name}`);
    await claimBlock(7, name);
    await claimBlock(8, "n2");
    await removeNode("n2");
    await marked("storage-8");
    await announced("storage", "Normal NodeGone: node n2 is gone, and no pod is bound to it: block storage-8 is freed in 60 s");
    // The node of block 7 is gone, too, but a pod is bound to it.
    expect(await markOf("storage-7")).toBeUndefined();
    passWait();
    await expectSoon(async () => expect(await read(blockPath("storage-8"))).toBeUndefined());
    await announced("storage", "Normal BlockFreed: block storage-8 of node n2, which is gone, is free");
    expect((await eventsOf("storage")).filter((event) => event.includes("storage-7"))).toEqual([]);
    expect(await read(blockPath("storage-7"))).toBeDefined();
    expect(await read(blockPath("storage-3"))).toBeDefined();
    await api.deletePod(pod.namespace, pod.name);
    await marked("storage-7");
    await announced(
      "storage",
      `Normal NodeGone: node ${name} is gone, and no pod is bound to it: block storage-7 is freed in 60 s`,
    );
  });

  test("a node that returns keeps its block, and the wait begins anew when it goes again", async () => {
    const { uid } = (await read(blockPath("storage-7")))?.metadata ?? { uid: "" };
    await makeNode("node");
    await expectSoon(async () => expect(await markOf("storage-7")).toBeUndefined());
    await announced("storage", "Normal NodeBack: node node is back, or a pod is bound to it: block storage-7 stays with it");
    passWait();
    expect((await read(blockPath("storage-7")))?.metadata.uid).toBe(uid);
    await removeNode("node");
    await marked("storage-7");
    expect((await read(blockPath("storage-7")))?.metadata.uid).toBe(uid);
  });

  test("a controller that is killed within the wait leaves the mark, and the next one waits in full", async () => {
    await marked("storage-7");
    clockMs += 0.9 * freeAfterSeconds * 1000;
    await term?.end();
    expect(await markOf("storage-7")).toBeDefined();
    term = begin();
    await expectSoon(async () => expect(await term?.metrics()).toContain('watch_objects{collection="addressblocks"} 2'));
    clockMs += 0.9 * freeAfterSeconds * 1000;
    await pause();
    expect(await markOf("storage-7")).toBeDefined();
    // A change of the block may have taken the mark away and set it again: the wait begins anew.
    await objects.patch(blockPath("storage-7"), { metadata: { labels: { touched: "yes" } } });
    // The watch brings this block after the change, and the controller works on both in this order.
    await claimBlock(10, "n10");
    await marked("storage-10");
    await objects.remove(blockPath("storage-10"));
    await pause();
    clockMs += 0.9 * freeAfterSeconds * 1000;
    await pause();
    expect(await markOf("storage-7")).toBeDefined();
    clockMs += 0.2 * freeAfterSeconds * 1000;
    await expectSoon(async () => expect(await read(blockPath("storage-7"))).toBeUndefined());
    await expectSoon(async () => expect(await term?.metrics()).toContain("plexus_controller_pool_blocks_freed_total 1"));
    await announced("storage", "Normal BlockFreed: block storage-7 of node node, which is gone, is free");
  });

  test("a reservation stays while its claim exists, and goes with the claim when no pod holds it", async () => {
    const claim = {
      apiVersion: "k8s.cni.cncf.io/v1alpha1",
      kind: "IPAMClaim",
      metadata: { name: "vm.storage.net1", namespace: "shop" },
    };
    await create({ ...claim, spec: { network: "storage", interface: "net1" } });
    const path = `/apis/k8s.cni.cncf.io/v1alpha1/namespaces/shop/ipamclaims/vm.storage.net1`;
    const uid = (await read(path))?.metadata.uid ?? "";
    const owner = { kind: "IPAMClaim", name: "vm.storage.net1", uid } as const;
    const parked = await reserve("10.50.255.10", owner, []);
    const held = await reserve("10.50.255.11", owner, [holder("n1", "p")]);
    const orphan = await reserve("10.50.255.12", { ...owner, uid: "of-an-earlier-claim" }, []);
    await expectSoon(async () => expect(await read(orphan)).toBeUndefined());
    await announced("storage", freedEvent("10.50.255.12"));
    expect(await read(parked)).toBeDefined();
    await objects.remove(path);
    await expectSoon(async () => expect(await read(parked)).toBeUndefined());
    await announced("storage", freedEvent("10.50.255.10"));
    // A pod still has the address.
    expect(await read(held)).toBeDefined();
    expect(await eventsOf("storage")).not.toContain(freedEvent("10.50.255.11"));
    await objects.patch(held, { spec: { holders: [] } });
    await expectSoon(async () => expect(await read(held)).toBeUndefined());
    await announced("storage", freedEvent("10.50.255.11"));
  });

  test("holders on a node that is gone are taken out, and others stay", async () => {
    await makeNode("n3");
    const sts = { kind: "StatefulSet", name: "gone", pod: "db" } as const;
    const path = await reserve("10.50.255.20", sts, [holder("n3", "p")]);
    const other = await reserve("10.50.255.21", sts, [holder("n1", "q")]);
    await removeNode("n3");
    await expectSoon(async () => expect(await read(path)).toBeUndefined());
    expect((await read(other))?.spec.holders).toHaveLength(1);
    await objects.remove(other);
  });

  test("hostile objects are left alone: names that reach into other paths", async () => {
    await claimBlock(9, "../../../api/v1/namespaces/kube-system/secrets");
    const path = await reserve("10.50.255.30", { name: "../../pods" }, []);
    const strange = await reserve("10.50.255.31", {}, [holder("n1,spec.nodeName!=n1", "x")]);
    await pause();
    expect(await markOf("storage-9")).toBeUndefined();
    expect(await read(path)).toBeDefined();
    expect((await read(strange))?.spec.holders).toHaveLength(1);
    for (const each of [path, strange, blockPath("storage-9")]) await objects.remove(each);
  });

  test("a pool that is deleted stays until its last block and reservation are gone, and claims under way have ended", async () => {
    const path = `${group}/addresspools/storage`;
    await objects.remove(path);
    await expectSoon(async () => expect(await conditionOf("storage", "Ready")).toBe("False Deleting"));
    clockMs += 30_000;
    await pause();
    expect(await read(path)).toBeDefined();
    await objects.remove(blockPath("storage-3"));
    await expectSoon(async () => expect(await read(path)).toBeUndefined());
    expect(term?.log.filter((line) => !line.includes("HTTP 409"))).toEqual([]);
  });
});
