// The daemon's looks at the holders of static addresses, with an API that counts its lists.

import { mkdirSync, mkdtempSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type AddressPool, overlappingCondition, poolFinalizer } from "../rules/address-pool.ts";
import type { AddressReservation, ReservationClaim, ReservationHolder } from "../rules/address-reservation.ts";
import { poolOf } from "../rules/testing/read-pool.ts";
import { ok } from "../../../src/fault/result.ts";
import { readAddress } from "../../../src/net/ip.ts";
import type { BlockApi } from "../api/block-api.ts";
import { NodeBlocks } from "./node-blocks.ts";
import { NodeReservations } from "./node-reservations.ts";
import { PoolDirectory } from "./pool-directory.ts";
import type { StaticRequest } from "./static-addresses.ts";

const address = "10.50.0.20";
const minute = 60_000;

let root: string;
let nowMs: number;
let lists: number;
let stored: AddressReservation[];
let reservations: NodeReservations;
/** The pool as the API has it. */
let pool: AddressPool;
/** Runs after a reservation was made. */
let afterCreation: () => void;

const held = (node: string, containerId: string): AddressReservation => ({
  name: "storage-1",
  uid: "r1",
  resourceVersion: "1",
  generation: 1,
  isDeleted: false,
  finalizers: [],
  pool: "storage",
  address: readAddress(address) ?? { family: 4, value: 0n },
  owner: { kind: "Pod", namespace: "shop", name: "web", uid: "u1", ifname: "net1" } as AddressReservation["owner"],
  holders: [{ node, containerId, podUid: "u1", pod: "web" } as AddressReservation["holders"][number]],
});
const lease = (containerId: string): void => writeFileSync(join(root, "storage", address), `${containerId}\r\nnet1\r\nred`);

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "plexus-pools-"));
  mkdirSync(join(root, "storage"));
  nowMs = 1000;
  lists = 0;
  stored = [];
  pool = { ...poolOf({ ranges: [{ subnet: "10.50.0.0/24", static: [`${address}/32`] }] }), finalizers: [poolFinalizer] };
  afterCreation = () => undefined;
  const api = {
    pool: async () => ok({ pool, object: {} }),
    reservations: {
      pod: async () => ok({ uid: "u1", controller: undefined }),
      create: async (claim: ReservationClaim, holder: ReservationHolder) => {
        const made = { ...held("n1", "c1"), ...claim, holders: [holder] };
        stored.push(made);
        afterCreation();
        return ok(made);
      },
      ofPool: async () => {
        lists++;
        return ok(stored);
      },
      remove: async () => {
        stored = [];
        return ok(undefined);
      },
    },
  };
  const opened = NodeBlocks.open({
    directory: new PoolDirectory(root),
    nodeName: "n1",
    api: async () => api as unknown as BlockApi,
    event: () => undefined,
    now: () => ({ monotonicMs: nowMs, wallMs: nowMs }),
    warn: () => undefined,
  });
  if (!opened.ok) throw new Error(opened.fault.msg);
  reservations = new NodeReservations(opened.value);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** Rounds, a minute apart. Answers their lists. */
async function rounds(count: number): Promise<number> {
  const before = lists;
  for (let round = 0; round < count; round++) {
    nowMs += minute;
    await reservations.roundOfAll();
  }
  return lists - before;
}

test("holders that are in order are listed once, and again each hour", async () => {
  stored = [held("n1", "c1")];
  lease("c1");
  expect(await reservations.round("storage")).toEqual(ok(undefined));
  expect(await rounds(59)).toBe(0);
  expect(await rounds(2)).toBe(1);
});

test("a holder whose lease goes without a word is taken out by the next round", async () => {
  stored = [held("n1", "c1")];
  lease("c1");
  await reservations.round("storage");
  await rounds(3);
  unlinkSync(join(root, "storage", address));
  expect([await rounds(1), stored]).toEqual([1, []]);
});

test("a lease of another container is looked at until holder and lease agree", async () => {
  stored = [held("n1", "c1")];
  lease("c2");
  await reservations.round("storage");
  expect(await rounds(2)).toBe(2);
  lease("c1");
  expect(await rounds(3)).toBe(1);
});

test("a node that holds nothing makes no list", async () => {
  stored = [held("n2", "c1")];
  await reservations.round("storage");
  expect(await rounds(5)).toBe(0);
});

describe("an address is not reserved", () => {
  const wanted = held("n1", "c1").address;
  const request: StaticRequest = {
    pool: "storage",
    namespace: "shop",
    pod: "web",
    podUid: "u1",
    containerId: "c1",
    ifname: "net1",
    networks: ["red"],
    wish: ok({ claim: undefined, keepsOrdinal: false }),
  };

  test.each([
    ["has no finalizer", () => ({ ...pool, finalizers: [] })],
    ["has addresses of another pool", () => ({ ...pool, trueConditions: [overlappingCondition] })],
  ])("in a pool that %s, because another pool may give it", async (why, changed) => {
    pool = changed();
    const msg = expect.stringContaining(`no address of AddressPool storage is reserved, because the pool ${why}`);
    expect(await reservations.take(request, wanted)).toMatchObject({ ok: false, fault: { kind: "POOL_UNAVAILABLE", msg } });
    expect(stored).toEqual([]);
  });

  test.each([
    ["is being deleted", () => ({ ...pool, isDeleted: true })],
    ["was replaced by another one", () => ({ ...pool, uid: "another" })],
    [`excludes ${address} now`, () => ({ ...pool, exclusions: [{ family: 4, first: wanted.value, last: wanted.value }] })],
  ] satisfies readonly (readonly [string, () => AddressPool])[])("in a pool that %s meanwhile", async (why, changed) => {
    afterCreation = () => void (pool = changed());
    const msg = `${address} of AddressPool storage was reserved and given back, because the pool ${why}`;
    expect(await reservations.take(request, wanted)).toMatchObject({ ok: false, fault: { kind: "POOL_UNAVAILABLE", msg } });
    expect(stored).toEqual([]);
  });

  test("for a pool that gets its finalizer after the daemon has read it, until then", async () => {
    const ready = pool;
    pool = { ...ready, finalizers: [] };
    expect(await reservations.take(request, wanted)).toMatchObject({ ok: false });
    pool = ready;
    expect(await reservations.take(request, wanted)).toEqual(ok(true));
    expect(stored).toMatchObject([{ holders: [{ node: "n1", containerId: "c1" }] }]);
  });
});
