// Pools of addresses on a real API server: the rules of their CustomResourceDefinitions, and two nodes' daemons that share pools.

import type { KubernetesObject } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { ApiObject, ApiObjects } from "../../host/cluster/kube/api-objects.ts";
import { poolsPart } from "../../features/pools/controller/part.ts";
import {
  type AddressBlock,
  addressBlockObject,
  addressBlocksPath,
  readAddressBlock,
} from "../../features/pools/rules/address-block.ts";
import { readAddressPool } from "../../features/pools/rules/address-pool.ts";
import {
  addressReservationObject,
  addressReservationsPath,
  readAddressReservation,
  type ReservationHolder,
  type ReservationOwner,
} from "../../features/pools/rules/address-reservation.ts";
import { hasAddress, sizeOf } from "../../features/pools/rules/spans.ts";
import { readAddress } from "../../src/net/ip.ts";
import { applyObjects, collectionOf, objectsOf, outcome } from "../lab/kube/apply.ts";
import { type ApiServer, plexusUser } from "../lab/kube/api-server.ts";
import { sharedApiServer } from "../lab/kube/shared-api-server.ts";
import { kubeApi } from "../lab/kube/binaries.ts";
import { partContext } from "../lab/kube/part-context.ts";
import { daemonRights, poolObject, poolRequests } from "../lab/kube/pool-objects.ts";
import { missing, privateNamespaces } from "../lab/requires.ts";
import { addressesIn, addUntilDone, leaseText, openPoolNode, type PoolNode } from "./pool-node.ts";

const claimOwner = {
  kind: "IPAMClaim",
  namespace: "shop",
  name: "db.storage.net1",
  uid: "u",
  pod: undefined,
  ifname: "net1",
} as const;
const holder = (podUid: string, instance?: string): ReservationHolder => {
  return { node: "n1", pod: "db", podUid, containerId: "c", instance };
};
const reservationOf = (text: string, owner: ReservationOwner, holders: readonly ReservationHolder[]) => {
  const address = readAddress(text);
  if (address === undefined) throw new Error(text);
  return addressReservationObject({ pool: "storage", address, owner }, holders) as ApiObject & KubernetesObject;
};

describe.skipIf(missing("pools of addresses on a Kubernetes API", privateNamespaces, kubeApi))("an API server with pools", () => {
  let api: ApiServer;
  /** The daemons' requests for resources that begin so. Their informers list and watch at any time. */
  const callsFor = (prefix: string) =>
    api.audit(plexusUser).filter(({ verb, resource }) => resource.startsWith(prefix) && verb !== "list" && verb !== "watch");
  let objects: ApiObjects;
  const create = async (object: ApiObject & KubernetesObject): Promise<ApiObject | string> =>
    outcome(await objects.create(collectionOf(object), object));
  const patchPool = async (name: string, spec: object): Promise<ApiObject | string> =>
    outcome(await objects.patch(`/apis/plexus.dev/v1alpha1/addresspools/${name}`, { spec }));

  beforeAll(async () => {
    const ofController = ["nodes", "pods", "ipamclaims", "statefulsets"].flatMap((each) => [
      `get ${each}`,
      `list ${each}`,
      `watch ${each}`,
    ]);
    const ofTests = ["create nodes", "delete nodes"];
    api = await sharedApiServer({ alsoAllowed: [...poolRequests, ...ofController, ...ofTests] });
    objects = objectsOf(api.adminKubeconfig);
    await applyObjects(objects, "deploy/helm/plexus/files/pools.yaml");
    const first = poolObject("storage", [{ subnet: "10.50.0.0/24" }, { subnet: "fd00:50::/64" }]);
    // The server serves a new kind some time after its definition.
    const served = async (): Promise<void> => {
      const made = await create(first);
      if (typeof made === "string") throw new Error(made);
    };
    await vi.waitFor(served, { timeout: 60_000, interval: 100 });
  });
  afterAll(async () => {
    objects?.close();
    await api?.dispose();
  });

  test("a pool gets its defaults, and Plexus reads what the server stored", async () => {
    const stored = outcome(await objects.get("/apis/plexus.dev/v1alpha1/addresspools/storage"));
    expect(readAddressPool(stored)).toMatchObject({ ok: true, value: { blockSize: 64, freeAfterSeconds: 14_400 } });
  });

  test.each([
    ["host bits", { ranges: [{ subnet: "10.60.0.1/24" }] }, "without host bits"],
    ["a subnet without enough addresses", { ranges: [{ subnet: "10.60.0.0/31" }] }, "at most a /30"],
    ["a first address outside", { ranges: [{ subnet: "10.60.0.0/24", first: "10.61.0.1" }] }, "must be addresses of the subnet"],
    ["a gateway of another family", { ranges: [{ subnet: "10.60.0.0/24", gateway: "fd00::1" }] }, "subnet's family"],
    ["static addresses outside", { ranges: [{ subnet: "10.60.0.0/24", static: ["10.61.0.0/30"] }] }, "static must be"],
    ["overlapping ranges", { ranges: [{ subnet: "10.60.0.0/16" }, { subnet: "10.60.1.0/24" }] }, "must not overlap"],
    ["an exclusion that is no address", { ranges: [{ subnet: "10.60.0.0/24" }], exclude: ["x"] }, "address or a network"],
    ["a block of 48 addresses", { ranges: [{ subnet: "10.60.0.0/24" }], blockSize: 48 }, "Unsupported value"],
    ["no range", { ranges: [] }, "at least 1 items"],
    [
      "probes that take too long",
      { ranges: [{ subnet: "10.60.0.0/24" }], conflictDetection: { waitMs: 6_000 } },
      "waitMs times probes must be at most 10000",
    ],
    ["no probe", { ranges: [{ subnet: "10.60.0.0/24" }], conflictDetection: { probes: 0 } }, "greater than or equal to 1"],
  ])("a pool with %s is refused", async (_, { ranges, ...spec }, why) => {
    expect(await create(poolObject("wrong", ranges, spec))).toContain(why);
  });

  test("ranges of a pool can be appended, and neither changed nor removed", async () => {
    const [v4, v6] = [{ subnet: "10.50.0.0/24" }, { subnet: "fd00:50::/64" }];
    expect(await patchPool("storage", { ranges: [v6, v4] })).toContain("cannot be changed or removed");
    expect(await patchPool("storage", { ranges: [v4] })).toContain("cannot be changed or removed");
    expect(await patchPool("storage", { ranges: [{ ...v4, static: ["10.50.0.9"] }, v6] })).toContain("cannot be changed");
    expect(await patchPool("storage", { blockSize: 32 })).toContain("blockSize of a pool cannot be changed");
    expect(await patchPool("storage", { ranges: [v4, v6, { subnet: "10.51.0.0/24" }], exclude: ["10.50.0.77"] })).toMatchObject({
      kind: "AddressPool",
    });
  });

  test("a block has the name of its number, is immutable, and is found by its node", async () => {
    const span = { family: 4, first: 0x0a_32_00_40n, last: 0x0a_32_00_7fn } as const;
    const claim = { pool: "storage", index: 1, span, node: "n1", holder: "h", freeAfterSeconds: 300 };
    const block = addressBlockObject(claim) as ApiObject & KubernetesObject;
    expect(await create({ ...block, metadata: { name: "storage-2" } })).toContain("a dash and the block's number");
    const made = readAddressBlock(await create(block));
    expect(made).toMatchObject({ ok: true, value: { ...claim, isOrphaned: false } });
    expect(await create(block)).toContain("already exists");
    expect(outcome(await objects.patch(`${addressBlocksPath}/storage-1`, { spec: { node: "n2" } }))).toContain("is immutable");
    const listed = async (node: string): Promise<unknown> =>
      objects.list(addressBlocksPath, { fieldSelector: `spec.node=${node}` });
    expect(await listed("n1")).toMatchObject({ kind: "list", items: [{ metadata: { name: "storage-1" } }] });
    expect(await listed("n2")).toMatchObject({ kind: "list", items: [] });
    const marked = await objects.patch(`${addressBlocksPath}/storage-1/status`, {
      status: { orphanedSince: "2026-01-01T00:00:00Z" },
    });
    expect(readAddressBlock(outcome(marked))).toMatchObject({ ok: true, value: { isOrphaned: true } });
    const stale = made.ok ? { uid: made.value.uid, resourceVersion: made.value.resourceVersion } : {};
    expect(await objects.remove(`${addressBlocksPath}/storage-1`, stale)).toMatchObject({ kind: "conflict" });
  });

  test.each(["10.50.0.9", "fd00:50::1", "fd00::", "::1"])("a reservation of %s has one possible name", async (text) => {
    const reservation = reservationOf(text, claimOwner, [holder("a")]);
    const other = { ...reservation, metadata: { name: "storage.again" } };
    expect(await create(other)).toContain("the name must be the pool's name");
    expect(readAddressReservation(await create(reservation))).toMatchObject({
      ok: true,
      value: { address: readAddress(text), owner: claimOwner, holders: [holder("a")] },
    });
  });

  test("the second holder of an address is another pod of the same VirtualMachineInstance, by a claim", async () => {
    const made = readAddressReservation(await create(reservationOf("10.50.0.20", claimOwner, [holder("a", "vmi")])));
    if (!made.ok) throw new Error(made.problem);
    const path = `${addressReservationsPath}/${made.value.name}`;
    const join = async (second: ReservationHolder): Promise<ApiObject | string> =>
      outcome(await objects.patch(path, { spec: { holders: [holder("a", "vmi"), second] } }));
    const why = "only during a live migration";
    expect(await join(holder("b"))).toContain(why);
    expect(await join(holder("b", "other"))).toContain(why);
    expect(await join(holder("a", "vmi"))).toContain(why);
    expect(await join(holder("b", "vmi"))).toMatchObject({ kind: "AddressReservation" });
    expect(outcome(await objects.patch(path, { spec: { owner: { uid: "x" } } }))).toContain("immutable, except for its holders");
    const pod: ReservationOwner = { ...claimOwner, kind: "Pod" };
    expect(await create(reservationOf("10.50.0.21", pod, [holder("a", "vmi"), holder("b", "vmi")]))).toContain(why);
  });

  test("a pool that has a subnet in common with another one is refused with both names, also when it grows", async () => {
    const refusal = "the subnets of AddressPool second overlap with those of AddressPool storage";
    // The API server compiles the policy some time after its creation.
    await vi.waitFor(
      async () => {
        const made = await create(poolObject("second", [{ subnet: "10.50.0.128/25" }]));
        if (typeof made !== "string") await objects.patch(poolPath("second"), { metadata: { finalizers: null } });
        if (typeof made !== "string") await objects.remove(poolPath("second"));
        expect(made).toContain(refusal);
      },
      { timeout: 60_000, interval: 250 },
    );
    expect(await create(poolObject("second", [{ subnet: "10.0.0.0/8" }]))).toContain(refusal);
    expect(await create(poolObject("second", [{ subnet: "10.70.0.0/24" }, { subnet: "fd00:70::/64" }]))).toMatchObject({
      kind: "AddressPool",
    });
    const grown = [{ subnet: "10.70.0.0/24" }, { subnet: "fd00:70::/64" }, { subnet: "fd00:50::/48" }];
    expect(await patchPool("second", { ranges: grown })).toContain(refusal);
  });

  const blocksOf = async (pool: string): Promise<readonly AddressBlock[]> => {
    const listed = await objects.list(addressBlocksPath, { fieldSelector: `spec.pool=${pool}` });
    const items = listed.kind === "list" ? listed.items : [];
    return items.map(readAddressBlock).flatMap((read) => (read.ok ? [read.value] : []));
  };
  /** Runs the controller's part for pools. Its clock can pass the wait for which a block stays marked. */
  const runController = (): { passWait(): void; end(): Promise<void> } => {
    let skippedMs = 0;
    const aborted = new AbortController();
    const part = poolsPart({ now: () => performance.now() + skippedMs, maxPauseMs: 200 })(partContext(objects));
    const ran = part.run(aborted.signal);
    return {
      passWait: () => void (skippedMs += 14_400_000),
      end: async () => {
        aborted.abort();
        await ran;
      },
    };
  };
  describe("two nodes with daemons", () => {
    let nodes: readonly [PoolNode, PoolNode];
    const both = <T>(act: (node: PoolNode) => Promise<T>): Promise<T[]> => Promise.all(nodes.map(act));

    beforeAll(async () => {
      for (const object of daemonRights) await api.admin.create(object);
      for (const pool of pools) {
        const made = await create(pool);
        if (typeof made === "string") throw new Error(made);
      }
      nodes = await Promise.all([openPoolNode("node-1", api.plexus), openPoolNode("node-2", api.plexus)] as const);
    });
    afterAll(async () => {
      await both((node) => node.dispose());
    });

    test("each node hands out addresses of both families from a block of its own, with the pool's prefix and gateway", async () => {
      const added = await both((node) => node.call("ADD", "c1", { pool: "dual" }));
      for (const { json } of added) {
        expect(json).toMatchObject({
          ips: [
            { address: expect.stringMatching("^10[.]170[.]0[.][0-9]+/24$"), gateway: "10.170.0.1" },
            { address: expect.stringMatching("^fd00:170::.*/64$"), gateway: "fd00:170::1" },
          ],
        });
      }
      expect(new Set(added.flatMap(addressesIn)).size).toBe(4);
      const blocks = await blocksOf("dual");
      expect(blocks.map(({ node }) => node).sort()).toEqual(["node-1", "node-1", "node-2", "node-2"]);
      for (const node of nodes) {
        for (const address of node.leases("dual")) expect(leaseText(node, "dual", address)).toBe("c1\r\neth0\r\npods");
      }
      expect(
        await both((node) =>
          node.call("CHECK", "c1", { pool: "dual", config: { prevResult: added[nodes.indexOf(node)]?.json } }),
        ),
      ).toMatchObject([{ status: 0 }, { status: 0 }]);
      expect(await both((node) => node.call("DEL", "c1", { pool: "dual" }))).toMatchObject([{ status: 0 }, { status: 0 }]);
      expect(nodes.map((node) => node.leases("dual"))).toEqual([[], []]);
    });

    test("an ADD sends no request to the API while a block has free addresses", async () => {
      const [node] = nodes;
      await addUntilDone(node, "quiet");
      const before = callsFor("address").length;
      for (const container of ["q1", "q2", "q3"])
        expect(await node.call("ADD", container, { pool: "quiet" })).toMatchObject({ status: 0 });
      expect(callsFor("address")).toHaveLength(before);
    });

    test("the next block is claimed before the first one is full, and the ADD that first uses it sends no request", async () => {
      const [node] = nodes;
      const pool = "ahead";
      /** Requests of daemons for blocks, or for this pool. */
      const requests = (): readonly string[] =>
        callsFor("address")
          .filter(({ resource, name }) => resource === "addressblocks" || (resource === "addresspools" && name === pool))
          .map(({ verb, resource, name }) => `${verb} ${resource} ${name}`);
      const first = [...(await addUntilDone(node, pool))];
      const [block = unreachable()] = await blocksOf(pool);
      const size = Number(sizeOf([block.span]));
      // Three quarters of the block.
      for (let used = 1; used < size * 0.75; used++) {
        expect(await blocksOf(pool)).toHaveLength(1);
        first.push(...(await addUntilDone(node, pool)));
      }
      await new Promise((resolve) => setTimeout(resolve, 500));
      expect(await blocksOf(pool)).toHaveLength(1);
      first.push(...(await addUntilDone(node, pool)));
      await expect.poll(async () => (await blocksOf(pool)).map((each) => each.node)).toEqual([node.name, node.name]);
      const before = requests();
      while (first.length < size) first.push(...(await addUntilDone(node, pool)));
      expect(first.every((address) => hasAddress([block.span], readAddress(address) ?? unreachable()))).toBe(true);
      const added = await node.call("ADD", "next", { pool });
      expect(requests()).toEqual(before);
      const [next] = addressesIn(added);
      const second = (await blocksOf(pool)).find(({ uid }) => uid !== block.uid) ?? unreachable();
      expect(hasAddress([second.span], readAddress(next ?? "") ?? unreachable())).toBe(true);
    });

    test("a pool without a grant, with a data directory, or without an object is refused with the reason", async () => {
      const [node] = nodes;
      const without = await node.call("ADD", "r1", {
        pool: "dual",
        grants: { log: {}, leases: { pools: ["other-*"] }, resolver: {} },
      });
      expect(without.json).toMatchObject({
        code: 7,
        msg: expect.stringContaining('AddressPool "dual" is not granted: wasm.grants.ipam-host-local.leases.pools has other-*'),
      });
      const directory = await node.call("ADD", "r2", { pool: "dual", ipam: { dataDir: "/tmp" } });
      expect(directory.json).toMatchObject({ code: 7, msg: expect.stringContaining("is not allowed beside ipam.pool") });
      const absent = await node.call("ADD", "r3", { pool: "absent" });
      expect(absent.json).toMatchObject({ code: 11, msg: expect.stringContaining("AddressPool absent does not exist") });
      const name = await node.call("ADD", "r4", { pool: "../x" });
      expect(name.json).toMatchObject({ code: 7, msg: expect.stringContaining("ipam.pool must be the name of an AddressPool") });
      const ranges = await node.call("ADD", "r5", { pool: "dual", ipam: { ranges: [[{ subnet: "10.99.0.0/24" }]] } });
      expect(ranges.json).toMatchObject({
        code: 7,
        msg: expect.stringContaining("ipam.ranges has no address of AddressPool dual"),
      });
    });

    test("a one-shot engine hands out no address of a pool, and releases those that a daemon gave", async () => {
      const [node] = nodes;
      const oneShot = { pool: "dual", config: {} };
      expect(await node.call("ADD", "s1", oneShot)).toMatchObject({ status: 0 });
      await node.kill();
      const added = await node.call("ADD", "s2", oneShot);
      expect(added.json).toMatchObject({ code: 11, msg: expect.stringContaining("AddressPool dual needs the daemon") });
      expect(await node.call("DEL", "s2", oneShot)).toMatchObject({ status: 0 });
      expect(await node.call("STATUS", "", oneShot)).toMatchObject({ status: 1, json: { code: 50 } });
      expect(await node.call("DEL", "s1", oneShot)).toMatchObject({ status: 0 });
      expect(node.leases("dual")).toEqual([]);
      await node.start();
    });

    test("GC of one network frees no address of another network that uses the same pool", async () => {
      const [node] = nodes;
      for (const network of ["one", "two"])
        expect(await node.call("ADD", network, { pool: "dual", network })).toMatchObject({ status: 0 });
      const collected = await node.call("GC", "", { pool: "dual", network: "one", config: { "cni.dev/valid-attachments": [] } });
      expect(collected).toMatchObject({ status: 0 });
      const texts = node.leases("dual").map((address) => leaseText(node, "dual", address));
      expect(texts).toEqual(["two\r\neth0\r\ntwo", "two\r\neth0\r\ntwo"]);
      expect(await node.call("DEL", "two", { pool: "dual", network: "two" })).toMatchObject({ status: 0 });
    });

    test("a full pool answers ADD with code 11 and STATUS with code 50, and a released address ends both", async () => {
      const [node, other] = nodes;
      // 10.172.0.2 to 10.172.0.6.
      const added = [];
      for (let count = 0; count < 5; count++)
        added.push(await (count % 2 === 0 ? node : other).call("ADD", `f${count}`, { pool: "small" }));
      expect(new Set(added.flatMap(addressesIn)).size).toBe(5);
      expect((await node.call("ADD", "f9", { pool: "small" })).json).toMatchObject({
        code: 11,
        msg: expect.stringContaining("AddressPool small is full"),
      });
      expect((await node.call("STATUS", "", { pool: "small" })).json).toMatchObject({ code: 50 });
      expect(await node.call("DEL", "f0", { pool: "small" })).toMatchObject({ status: 0 });
      expect(await node.call("STATUS", "", { pool: "small" })).toMatchObject({ status: 0 });
      expect(addressesIn(await node.call("ADD", "f9", { pool: "small" }))).toEqual(addressesIn(added[0] ?? unreachable()));
    });

    test("with the API server away ADD, DEL and GC work while the block has free addresses, and a restarted daemon waits for the API", async () => {
      const [node, other] = nodes;
      await addUntilDone(node, "away");
      await addUntilDone(other, "away");
      await api.stop();
      expect(await node.call("ADD", "a1", { pool: "away" })).toMatchObject({ status: 0 });
      expect(await node.call("STATUS", "", { pool: "away" })).toMatchObject({ status: 0 });
      expect(await node.call("DEL", "a1", { pool: "away" })).toMatchObject({ status: 0 });
      expect(await node.call("GC", "", { pool: "away", config: { "cni.dev/valid-attachments": [] } })).toMatchObject({
        status: 0,
      });
      await other.kill();
      await other.start();
      const refused = await other.call("ADD", "a2", { pool: "away" });
      expect(refused.json).toMatchObject({
        code: 11,
        msg: expect.stringMatching(/AddressPool away cannot be read|AddressBlocks cannot be listed/),
      });
      expect(await other.call("DEL", "a2", { pool: "away" })).toMatchObject({ status: 0 });
      await api.start();
      expect(await addUntilDone(other, "away")).toHaveLength(1);
    });

    test("no address has two owners while the API server is restarted and daemons are killed", async () => {
      const over = new AbortController();
      const handedOut: (readonly string[])[] = [];
      const adding = both(async (node) => {
        while (!over.signal.aborted) handedOut.push(await addUntilDone(node, "rough"));
      });
      for (let round = 0; round < 3; round++) {
        await new Promise((resolve) => setTimeout(resolve, 1000));
        const node = nodes[round % 2] ?? unreachable();
        await node.kill();
        if (round === 1) await api.stop();
        await node.start();
        if (round === 1) await api.start();
      }
      await expect.poll(() => handedOut.flat().length).toBeGreaterThan(40);
      over.abort();
      await adding;
      const all = handedOut.flat();
      expect(new Set(all).size).toBe(all.length);
      const blocks = await blocksOf("rough");
      for (const node of nodes) {
        const own = blocks.filter((block) => block.node === node.name).map(({ span }) => span);
        for (const address of node.leases("rough"))
          expect([address, hasAddress(own, readAddress(address) ?? unreachable())]).toEqual([address, true]);
      }
    });

    test("a node that lost its state directory uses none of its old blocks, and names them for the administrator", async () => {
      const node = await openPoolNode("node-3", api.plexus);
      const [lost = ""] = await addUntilDone(node, "lost");
      await node.dispose();
      const again = await openPoolNode("node-3", api.plexus);
      try {
        // The pool has two blocks of four addresses each.
        const found = new Set<string>();
        for (let count = 0; count < 4; count++) for (const address of await addUntilDone(again, "lost")) found.add(address);
        expect([found.size, found.has(lost)]).toEqual([4, false]);
        expect((await again.call("ADD", "late", { pool: "lost" })).json).toMatchObject({
          code: 11,
          msg: expect.stringContaining("AddressPool lost is full"),
        });
        const old = (await blocksOf("lost")).find(({ span }) => hasAddress([span], readAddress(lost) ?? unreachable()));
        // The daemon searches for such blocks a second after its first use of a pool.
        const warning = `AddressBlock ${old?.name} of this node belongs to another state directory and is not used`;
        await expect.poll(() => again.daemon()?.stderr()).toContain(warning);
        await objects.remove(`${addressBlocksPath}/${old?.name}`);
        expect(await addUntilDone(again, "lost")).toHaveLength(1);
      } finally {
        await again.dispose();
      }
    });

    test("a block that was freed and claimed by another node is not used by the restarted daemon of the node that comes back", async () => {
      const [node, other] = nodes;
      const [address] = await addUntilDone(node, "returned");
      const paused = node.daemon() ?? unreachable();
      paused.signal("SIGSTOP");
      const [block] = await blocksOf("returned");
      expect(block?.node).toBe("node-1");
      // The controller's two steps. Its wait is left out: the node has no part in it.
      expect(await objects.remove(`${addressBlocksPath}/${block?.name}`, { uid: block?.uid ?? "" })).toMatchObject({
        kind: "object",
      });
      const [taken] = await addUntilDone(other, "returned");
      expect(taken).toBe(address);
      await node.kill();
      await node.start();
      const refused = await node.call("ADD", "late", { pool: "returned" });
      expect(refused.json).toMatchObject({ code: 11, msg: expect.stringContaining("AddressPool returned is full") });
    });

    test("a paused daemon that goes on uses no block that the controller has freed and another node has claimed meanwhile", async () => {
      const [, other] = nodes;
      const pool = "paused";
      const paused = await openPoolNode("node-4", api.plexus);
      let controller: ReturnType<typeof runController> | undefined;
      try {
        // The part frees blocks of nodes without a Node object: the other nodes keep theirs.
        for (const { name } of [...nodes, paused]) expect(await create(nodeObject(name))).toMatchObject({ kind: "Node" });
        controller = runController();
        const [address] = await addUntilDone(paused, pool);
        const daemon = paused.daemon() ?? unreachable();
        daemon.signal("SIGSTOP");
        const pausedAt = performance.now();
        await objects.remove("/api/v1/nodes/node-4");
        const isMarked = async (): Promise<boolean> => (await blocksOf(pool))[0]?.isOrphaned === true;
        await expect.poll(isMarked).toBe(true);
        const left = (): Promise<readonly AddressBlock[]> => {
          controller?.passWait();
          return blocksOf(pool);
        };
        await expect.poll(left).toEqual([]);
        expect(await addUntilDone(other, pool)).toEqual([address]);
        // The controller's true wait is a minute at least, and a daemon notices a pause of 15 seconds.
        await new Promise((resolve) => setTimeout(resolve, pausedAt + 16_000 - performance.now()));
        expect(await create(nodeObject("node-4"))).toMatchObject({ kind: "Node" });
        // One call waits for the paused daemon, the other one comes afterwards.
        const waiting = paused.call("ADD", "waiting", { pool });
        await new Promise((resolve) => setTimeout(resolve, 300));
        daemon.signal("SIGCONT");
        const refusals = [await waiting, await paused.call("ADD", "late", { pool })];
        for (const { json } of refusals) {
          expect(json).toMatchObject({ code: 11, msg: expect.stringContaining(`AddressPool ${pool} is full`) });
        }
        expect(paused.daemon()?.pid).toBe(daemon.pid);
        expect((await blocksOf(pool)).map((block) => block.node)).toEqual([other.name]);
      } finally {
        paused.daemon()?.signal("SIGCONT");
        await paused.dispose();
        await controller?.end();
      }
    });
  });
});

function nodeObject(name: string): KubernetesObject & ApiObject {
  return { apiVersion: "v1", kind: "Node", metadata: { name } };
}
function poolPath(name: string): string {
  return `/apis/plexus.dev/v1alpha1/addresspools/${name}`;
}
function unreachable(): never {
  throw new Error("unreachable");
}

/** The pools of the nodes' tests. All are made before the API server is restarted: a policy for pools needs some time afterwards. */
const pools = [
  poolObject("dual", [{ subnet: "10.170.0.0/24" }, { subnet: "fd00:170::/64" }], { blockSize: 16 }),
  poolObject("quiet", [{ subnet: "10.171.0.0/24" }], { blockSize: 64 }),
  // Each block has 16 addresses: 0, the gateway and the last one are outside.
  poolObject("ahead", [{ subnet: "10.177.0.0/24", first: "10.177.0.16", last: "10.177.0.239" }], { blockSize: 16 }),
  poolObject("small", [{ subnet: "10.172.0.0/29" }], { blockSize: 1 }),
  poolObject("away", [{ subnet: "10.173.0.0/24" }], { blockSize: 16 }),
  poolObject("rough", [{ subnet: "10.174.0.0/20" }], { blockSize: 8 }),
  poolObject("lost", [{ subnet: "10.176.0.0/28", first: "10.176.0.4", last: "10.176.0.11" }], { blockSize: 4 }),
  poolObject("returned", [{ subnet: "10.175.0.0/28" }], { blockSize: 16 }),
  poolObject("paused", [{ subnet: "10.178.0.0/28" }], { blockSize: 16 }),
];
