// The daemon's claims and give-backs with an API that loses answers, which a real one cannot be made to do at the right moment.

import { cpSync, mkdirSync, mkdtempSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type AddressBlock, type BlockClaim, blockName } from "../rules/address-block.ts";
import { type AddressPool, poolFinalizer } from "../rules/address-pool.ts";
import { candidates } from "../rules/next-block.ts";
import { poolOf } from "../rules/testing/read-pool.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok } from "../../../src/fault/result.ts";
import { readAddress } from "../../../src/net/ip.ts";
import type { BlockApi } from "../api/block-api.ts";
import { GiveBack } from "./give-back.ts";
import { NodeBlocks } from "./node-blocks.ts";
import { NodePools } from "./node-pools.ts";
import { PoolClaims } from "./pool-claims.ts";
import { PoolDirectory } from "./pool-directory.ts";

const spec = { ranges: [{ subnet: "10.50.0.0/24" }], blockSize: 64 };
const whole = [{ family: 4, first: 0x0a_32_00_00n, last: 0x0a_32_00_ffn }] as const;

/** A server that loses what the test says. */
class LossyApi implements Pick<BlockApi, keyof BlockApi> {
  pools: AddressPool | undefined = { ...poolOf(spec), finalizers: [poolFinalizer] };
  readonly blocks = new Map<string, AddressBlock>();
  /** Numbers of blocks whose objects nobody can read. */
  readonly unreadable = new Set<number>();
  /** Requests that take effect and whose answers are lost. */
  readonly lost = new Set<"claim" | "remove">();
  /** Names of blocks whose deletion an admission policy refuses. */
  readonly refused = new Set<string>();
  isAway = false;
  hangs = false;
  requests = 0;
  /** Requests for the blocks of a whole pool. */
  poolLists = 0;
  /** Requests for the blocks of a node, from the store. */
  nodeLists = 0;
  /** The same from the server's cache. */
  searches = 0;

  get reservations(): BlockApi["reservations"] {
    throw new Error("these tests reserve nothing");
  }
  async pool(): ReturnType<BlockApi["pool"]> {
    this.requests++;
    if (this.hangs) await new Promise(() => undefined);
    if (this.isAway) return failed(fault("POOL_UNAVAILABLE", "the API is away"));
    return ok(this.pools && { pool: this.pools, object: {} });
  }
  async block(name: string): ReturnType<BlockApi["block"]> {
    this.requests++;
    if (this.isAway) return failed(fault("POOL_UNAVAILABLE", "the API is away"));
    return ok(this.blocks.get(name));
  }
  async blocksOfNode(...[node, source]: Parameters<BlockApi["blocksOfNode"]>): ReturnType<BlockApi["blocksOfNode"]> {
    if (source === "from the cache") this.searches++;
    else this.nodeLists++;
    return this.#list((block) => block.node === node);
  }
  async blocksOfPool(pool: string): ReturnType<BlockApi["blocksOfPool"]> {
    this.poolLists++;
    return this.#list((block) => block.pool === pool);
  }
  async claim(claim: BlockClaim): ReturnType<BlockApi["claim"]> {
    this.requests++;
    const name = blockName(claim.pool, claim.index);
    if (this.isAway) return { kind: "failed", why: "the API is away" };
    if (this.blocks.has(name) || this.unreadable.has(claim.index)) return { kind: "taken" };
    const metadata = { name, uid: `uid-${this.requests}`, resourceVersion: "1", generation: 1, isDeleted: false, finalizers: [] };
    const block = { ...metadata, ...claim, isOrphaned: false };
    this.blocks.set(name, block);
    return this.lost.has("claim") ? { kind: "failed", why: "no answer" } : { kind: "claimed", block };
  }
  async remove(name: string, uid: string): ReturnType<BlockApi["remove"]> {
    this.requests++;
    if (this.isAway) return { why: "the API is away" };
    if (this.refused.has(name)) return { why: "HTTP 403" };
    if (this.blocks.get(name)?.uid === uid) this.blocks.delete(name);
    return this.lost.has("remove") ? { why: "no answer" } : "gone";
  }
  async #list(fits: (block: AddressBlock) => boolean): ReturnType<BlockApi["blocksOfNode"]> {
    this.requests++;
    if (this.hangs) await new Promise(() => undefined);
    if (this.isAway) return failed(fault("POOL_UNAVAILABLE", "the API is away"));
    return ok({ blocks: [...this.blocks.values()].filter(fits), problems: [] });
  }
}

let root: string;
let api: LossyApi;
let nowMs = 1000;
const directory = (): PoolDirectory => new PoolDirectory(root);
const now = () => ({ monotonicMs: nowMs, wallMs: 1_700_000_000_000 + nowMs });

/** A daemon that is started now. */
async function started(
  nodeName = "n1",
  at = directory(),
): Promise<{ readonly blocks: NodeBlocks; readonly claims: PoolClaims; readonly warnings: readonly string[] }> {
  const warnings: string[] = [];
  const opened = NodeBlocks.open({
    directory: at,
    nodeName,
    api: async () => api as unknown as BlockApi,
    event: () => undefined,
    now,
    warn: (text) => void warnings.push(text),
  });
  if (!opened.ok) throw new Error(opened.fault.msg);
  await opened.value.pool("storage");
  await opened.value.ready();
  return { blocks: opened.value, claims: new PoolClaims(opened.value, "storage"), warnings };
}

/** The number of blocks that the daemon may use. */
function usableOf(blocks: NodeBlocks): number {
  const pool = blocks.knownPool("storage");
  return pool === undefined ? 0 : blocks.knowledge.usable(pool, now()).length;
}

/** Writes a lease. */
function hold(address: string): void {
  mkdirSync(join(root, "storage"), { recursive: true });
  writeFileSync(join(root, "storage", address), "c1\r\neth0\r\npods");
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "plexus-pools-"));
  api = new LossyApi();
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe("a claim", () => {
  test("takes one request beside the look that the pool is still there, at the place of the node's name", async () => {
    const { claims, blocks } = await started();
    const before = api.requests;
    expect(await claims.claim(whole)).toEqual(ok(undefined));
    expect([api.requests - before, usableOf(blocks)]).toEqual([2, 1]);
  });

  test("whose answer was lost is found by the next one, and no second block is claimed", async () => {
    const { claims, blocks } = await started();
    api.lost.add("claim");
    expect(await claims.claim(whole)).toMatchObject({ ok: false, fault: { kind: "POOL_UNAVAILABLE" } });
    api.lost.clear();
    expect(await claims.claim(whole)).toEqual(ok(undefined));
    expect([api.blocks.size, usableOf(blocks)]).toEqual([1, 1]);
  });

  test("of concurrent calls is one claim", async () => {
    const { claims } = await started();
    await Promise.all([claims.claim(whole), claims.claim(whole), claims.claim(whole)]);
    expect(api.blocks.size).toBe(1);
  });

  test("in a large pool that is half used is made without a list of all blocks, which each of a thousand nodes would get", async () => {
    const pool = poolOf({ ranges: [{ subnet: "10.48.0.0/12" }], blockSize: 256 });
    api.pools = { ...pool, finalizers: [poolFinalizer] };
    const taken = new Set<number>();
    for (let node = 0; node < 1000; node++) {
      for (const block of candidates(pool, 4, `node-${node}`, taken).take(2)) {
        taken.add(block.index);
        const claim = { pool: "storage", ...block, node: `node-${node}`, holder: "h", freeAfterSeconds: 600 };
        await api.claim(claim);
      }
    }
    const large = [{ family: 4, first: 0x0a_30_00_00n, last: 0x0a_3f_ff_ffn }] as const;
    for (let node = 0; node < 40; node++) {
      const { claims } = await started(`new-${node}`, new PoolDirectory(join(root, `new-${node}`)));
      expect(await claims.claim(large)).toEqual(ok(undefined));
    }
    expect([api.blocks.size, api.poolLists]).toEqual([2040, 0]);
  });

  test("passes over other nodes' blocks, until the pool is full", async () => {
    const nodes = await Promise.all(["a", "b", "c", "d", "e"].map((name) => started(name, new PoolDirectory(join(root, name)))));
    for (const { claims } of nodes.slice(0, 4)) expect(await claims.claim(whole)).toEqual(ok(undefined));
    const last = nodes[4]?.claims;
    expect(await last?.claim(whole)).toMatchObject({ ok: false, fault: { kind: "POOL_FULL", code: 11 } });
    expect(await last?.canClaim(whole)).toEqual(ok(false));
    // A full pool is not asked again at once.
    const before = api.requests;
    expect(await last?.claim(whole)).toMatchObject({ ok: false, fault: { kind: "POOL_FULL" } });
    expect(api.requests).toBe(before);
    api.blocks.clear();
    nowMs += 3000;
    expect(await last?.claim(whole)).toEqual(ok(undefined));
  });

  test("passes over blocks that a list does not have, because nobody can read them, and ends if there is no other", async () => {
    api.pools = { ...poolOf({ ...spec, ranges: [{ subnet: "10.50.0.0/22" }] }), finalizers: [poolFinalizer] };
    const { blocks, claims } = await started();
    const all = [{ family: 4, first: 0x0a_32_00_00n, last: 0x0a_32_03_ffn }] as const;
    for (let index = 0; index < 16; index++) if (index !== 11) api.unreadable.add(index);
    expect(await claims.claim(all)).toEqual(ok(undefined));
    expect(blocks.blocks.map(({ index }) => index)).toEqual([11]);
    const before = api.requests;
    expect(await claims.claim(all)).toMatchObject({ ok: false, fault: { kind: "POOL_FULL" } });
    expect(api.requests - before).toBeLessThan(25);
  });

  test("in a range that is full leaves other ranges of the pool to other networks", async () => {
    api.pools = { ...poolOf({ ...spec, blockSize: 64 }), finalizers: [poolFinalizer] };
    const { claims } = await started();
    const narrow = [{ family: 4, first: 0x0a_32_00_05n, last: 0x0a_32_00_06n }] as const;
    expect(await claims.claim(narrow)).toEqual(ok(undefined));
    expect(await claims.claim(narrow)).toMatchObject({ ok: false, fault: { kind: "POOL_FULL" } });
    expect([await claims.canClaim(narrow), await claims.canClaim(whole)]).toEqual([ok(false), ok(true)]);
    expect(await claims.claim(whole)).toEqual(ok(undefined));
    expect(await claims.canClaim(narrow)).toEqual(ok(false));
  });

  test("of the block with a requested address gets that block, unless another node has it", async () => {
    const { claims } = await started();
    const other = await started("n2", new PoolDirectory(join(root, "n2")));
    const address = readAddress("10.50.0.200") ?? { family: 4, value: 0n };
    expect(await claims.claimWith(address)).toEqual(ok(true));
    expect(await other.claims.claimWith(address)).toEqual(ok(false));
    expect(await claims.claimWith({ family: 4, value: 0x0a_32_00_01n })).toEqual(ok(false));
    expect(await claims.claimWith({ family: 4, value: 1n })).toMatchObject({ ok: false, fault: { kind: "CONFIG_INVALID" } });
  });

  test("in a pool without a finalizer is not made, and one in a pool that is replaced meanwhile is given back", async () => {
    const { claims, blocks } = await started();
    const pool = api.pools ?? poolOf(spec);
    api.pools = { ...pool, finalizers: [] };
    await blocks.readPool("storage");
    expect(await claims.claim(whole)).toMatchObject({ ok: false, fault: { msg: expect.stringContaining("finalizer") } });
    api.pools = pool;
    await blocks.readPool("storage");
    api.pools = { ...pool, uid: "another" };
    expect(await claims.claim(whole)).toMatchObject({
      ok: false,
      fault: { msg: expect.stringContaining("replaced by another one") },
    });
    expect([api.blocks.size, usableOf(blocks)]).toEqual([0, 0]);
  });
});

describe("in a large pool with a status, no node lists the blocks of all", () => {
  /** 4,096 blocks of 64 addresses. */
  const large = { ranges: [{ subnet: "10.64.0.0/14" }], blockSize: 64 };
  const all = [{ family: 4, first: 0x0a_40_00_00n, last: 0x0a_43_ff_ffn }] as const;
  const useStatus = (free: number): void => {
    const addresses = [{ family: "IPv4", total: "262142", inBlocks: String(262_142 - free), free: String(free) }];
    api.pools = { ...poolOf(large, { status: { addresses } }), finalizers: [poolFinalizer] };
  };
  const poolWhole = [{ family: 4, first: 0x0a_40_00_01n, last: 0x0a_43_ff_fen }] as const;

  test("while 200 nodes claim and claim ahead, also where they meet", async () => {
    useStatus(200_000);
    const nodes = await Promise.all(
      Array.from({ length: 200 }, (_, index) => started(`node-${index}`, new PoolDirectory(join(root, `n${index}`)))),
    );
    for (const { claims } of nodes) {
      expect(await claims.claim(all)).toEqual(ok(undefined));
      await claims.claimAhead(4);
      expect(await claims.canClaim(poolWhole)).toEqual(ok(true));
    }
    expect([api.blocks.size, api.poolLists]).toEqual([400, 0]);
  });

  test("a list decides whether the next block is claimed ahead only where the status is near the bound", async () => {
    useStatus(60_000);
    const { claims } = await started();
    await claims.claimAhead(4);
    expect([api.blocks.size, api.poolLists]).toEqual([0, 0]);
    const near = await started("n2", new PoolDirectory(join(root, "n2")));
    useStatus(65_536);
    await near.blocks.readPool("storage");
    await near.claims.claimAhead(4);
    expect([api.blocks.size, api.poolLists]).toEqual([1, 1]);
  });

  test("a full pool is listed ever again after a pause that grows with its blocks, so that an old status keeps no address back", async () => {
    useStatus(0);
    const { claims, blocks } = await started();
    for (let index = 0; index < 4096; index++) {
      const block = { pool: "storage", index, span: all[0], node: "other", holder: "other", freeAfterSeconds: 60 };
      await api.claim(block);
    }
    expect(await claims.claim(all)).toMatchObject({ ok: false, fault: { kind: "POOL_FULL" } });
    const lists = api.poolLists;
    for (let turn = 0; turn < 20; turn++) {
      nowMs += 3000;
      expect(await claims.claim(all)).toMatchObject({ ok: false, fault: { kind: "POOL_FULL" } });
      expect(await claims.canClaim(all)).toEqual(ok(false));
    }
    expect(api.poolLists).toBe(lists);
    // A node gave blocks back, and the controller that counts is away.
    for (const name of [...api.blocks.keys()].slice(0, 100)) api.blocks.delete(name);
    nowMs += 30_000;
    await blocks.ready();
    expect(await claims.claim(all)).toEqual(ok(undefined));
  });
});

/** Refreshes each second, as the daemon does. */
const pass = async (blocks: NodeBlocks, seconds: number): Promise<void> => {
  for (let second = 0; second < seconds; second++) {
    nowMs += 1000;
    blocks.noteTime();
    await blocks.refresh();
  }
};

describe("a daemon that goes on", () => {
  test("reads its blocks again by their names, and searches for others each hour in the server's cache", async () => {
    const { claims, blocks } = await started();
    await claims.claim(whole);
    await pass(blocks, 3500);
    // The first search is for blocks of a directory that was lost.
    expect([api.nodeLists, api.searches, usableOf(blocks)]).toEqual([0, 1, 1]);
    await pass(blocks, 400);
    expect([api.nodeLists, api.searches, usableOf(blocks)]).toEqual([0, 2, 1]);
    // Four hours and more: the knowledge is that of the reads.
    await pass(blocks, 14_400);
    expect([api.nodeLists, usableOf(blocks)]).toEqual([0, 1]);
  });

  test("uses no block any more that is gone, marked, or replaced, and keeps one for its time while the API is away", async () => {
    const { claims, blocks } = await started();
    for (const address of ["10.50.0.70", "10.50.0.130", "10.50.0.200"])
      await claims.claimWith(readAddress(address) ?? { family: 4, value: 0n });
    const [gone, marked, replaced] = [...api.blocks.values()];
    if (gone === undefined || marked === undefined || replaced === undefined) throw new Error("no blocks");
    api.isAway = true;
    await pass(blocks, 600);
    expect(usableOf(blocks)).toBe(3);
    api.isAway = false;
    api.blocks.delete(gone.name);
    api.blocks.set(marked.name, { ...marked, isOrphaned: true });
    api.blocks.set(replaced.name, { ...replaced, uid: "another", holder: "another" });
    const lists = api.nodeLists;
    await pass(blocks, 301);
    expect([api.nodeLists, usableOf(blocks)]).toEqual([lists, 0]);
    api.isAway = true;
    await pass(blocks, 14_400);
    expect(usableOf(blocks)).toBe(0);
  });
});

describe("a daemon that starts again", () => {
  test("reads its blocks by their names, also one whose claim got no answer, and lists nothing", async () => {
    const { claims } = await started();
    await claims.claimWith(readAddress("10.50.0.70") ?? { family: 4, value: 0n });
    api.lost.add("claim");
    await claims.claimWith(readAddress("10.50.0.200") ?? { family: 4, value: 0n });
    api.lost.clear();
    const { blocks } = await started();
    expect([api.nodeLists, api.blocks.size, usableOf(blocks)]).toEqual([0, 2, 2]);
  });

  test("after a pause reads them by their names, and one that another node has now is not its own", async () => {
    const { claims, blocks } = await started();
    await claims.claimWith(readAddress("10.50.0.70") ?? { family: 4, value: 0n });
    await claims.claimWith(readAddress("10.50.0.200") ?? { family: 4, value: 0n });
    const [, second] = [...api.blocks.values()];
    if (second === undefined) throw new Error("no second block");
    api.blocks.set(second.name, { ...second, uid: "another", holder: "another", node: "n2" });
    nowMs += 60_000;
    expect(await blocks.ready()).toEqual(ok(undefined));
    expect([api.nodeLists, usableOf(blocks)]).toEqual([0, 1]);
  });

  test("lists its blocks where the file of names is cut or missing, and keeps the names of many", async () => {
    api.pools = { ...poolOf({ ...spec, blockSize: 2 }), finalizers: [poolFinalizer] };
    const { claims } = await started();
    for (let last = 2; last < 132; last += 2) await claims.claimWith({ family: 4, value: 0x0a_32_00_00n + BigInt(last) });
    // More than 64 are cheaper to list than to read.
    expect(usableOf((await started()).blocks)).toBe(65);
    expect(api.nodeLists).toBe(1);
    for (const name of [...api.blocks.keys()].slice(4)) api.blocks.delete(name);
    expect([usableOf((await started()).blocks), usableOf((await started()).blocks), api.nodeLists]).toEqual([4, 4, 2]);
    for (const cut of ["", "storage-1\nstora", "storage-1\n"]) {
      writeFileSync(join(root, ".claimed"), cut);
      const lists = api.nodeLists;
      expect([usableOf((await started()).blocks), api.nodeLists - lists]).toEqual([4, 1]);
      expect([usableOf((await started()).blocks), api.nodeLists - lists]).toEqual([4, 1]);
    }
  });

  test("finds a block that the file of names lacks by the search, and names those of a lost directory", async () => {
    const { claims } = await started();
    await claims.claim(whole);
    const [lost] = api.blocks.values();
    if (lost === undefined) throw new Error("no block");
    api.blocks.set("storage-9", { ...lost, name: "storage-9", uid: "uid-9", index: 9, holder: "another" });
    // As a power loss leaves the file.
    directory().keepClaimedNames([]);
    const { blocks, warnings } = await started();
    expect(usableOf(blocks)).toBe(0);
    await pass(blocks, 1);
    expect([api.nodeLists, api.searches, usableOf(blocks)]).toEqual([0, 1, 1]);
    expect(warnings).toEqual([expect.stringContaining("AddressBlock storage-9 of this node belongs to another state directory")]);
    expect([usableOf((await started()).blocks), api.nodeLists]).toEqual([1, 0]);
  });

  test("lists its blocks where the note of one that it gives back has lost the name", async () => {
    const { claims } = await started();
    await claims.claim(whole);
    writeFileSync(join(root, ".leaving-uid-of-nobody"), "");
    await started();
    expect(api.nodeLists).toBe(1);
  });
});

describe("an empty block", () => {
  test("is given back after a while, and one with a lease stays", async () => {
    const { claims, blocks } = await started();
    await claims.claimWith(readAddress("10.50.0.70") ?? { family: 4, value: 0n });
    await claims.claimWith(readAddress("10.50.0.200") ?? { family: 4, value: 0n });
    hold("10.50.0.70");
    const giveBack = new GiveBack(blocks, 10_000);
    await giveBack.round();
    expect(api.blocks.size).toBe(2);
    nowMs += 10_000;
    await giveBack.round();
    expect([...api.blocks.keys()]).toEqual(["storage-1"]);
  });

  test("whose deletion is not confirmed is never used again, not even by the next daemon, which repeats the deletion", async () => {
    const { claims, blocks } = await started();
    await claims.claim(whole);
    const giveBack = new GiveBack(blocks, 0);
    api.isAway = true;
    await giveBack.round();
    expect(usableOf(blocks)).toBe(0);
    api.isAway = false;
    const next = await started();
    expect([api.blocks.size, usableOf(next.blocks)]).toEqual([1, 0]);
    await new GiveBack(next.blocks, 60_000).round();
    expect([api.blocks.size, directory().leaving().size]).toEqual([0, 0]);
  });

  test("whose note has lost its content is found by its UID, and one that the API refuses to delete keeps no other", async () => {
    const { claims } = await started();
    for (const address of ["10.50.0.70", "10.50.0.130", "10.50.0.200"]) {
      await claims.claimWith(readAddress(address) ?? { family: 4, value: 0n });
    }
    const [first, refused, last] = [...api.blocks.values()];
    directory().noteLeaving(refused?.uid ?? "", refused?.name ?? "");
    directory().noteLeaving(last?.uid ?? "", last?.name ?? "");
    // As a power loss leaves a file that was not synced.
    writeFileSync(join(root, `.leaving-${first?.uid}`), "");
    writeFileSync(join(root, ".leaving-uid-of-nobody"), "");
    api.refused.add(refused?.name ?? "");
    await new GiveBack((await started()).blocks, 60_000).round();
    expect([...api.blocks.keys()]).toEqual([refused?.name]);
    expect([...directory().leaving().keys()]).toEqual([refused?.uid]);
  });
});

describe("a note of a block that is given back", () => {
  const address = "10.50.0.70";
  const claimed = async (at = directory()): Promise<NodeBlocks> => {
    const { claims, blocks } = await started("n1", at);
    await claims.claimWith(readAddress(address) ?? { family: 4, value: 0n });
    return blocks;
  };

  test("that was written and could not be synced is removed, because the node goes on with the block", async () => {
    const at = directory();
    at.noteLeaving = (uid, name) => {
      new PoolDirectory(root).noteLeaving(uid, name);
      return failed(fault("STORE_FAILED", "EIO: i/o error, fsync"));
    };
    const blocks = await claimed(at);
    await new GiveBack(blocks, 0).round();
    expect(usableOf(blocks)).toBe(1);
    hold(address);
    const next = await started();
    await new GiveBack(next.blocks, 60_000).round();
    expect([api.blocks.size, usableOf(next.blocks)]).toEqual([1, 1]);
  });

  test("that neither can be synced nor removed keeps the block out of use", async () => {
    const at = directory();
    at.noteLeaving = at.noteGone = () => failed(fault("STORE_FAILED", "EIO: i/o error"));
    const blocks = await claimed(at);
    await new GiveBack(blocks, 0).round();
    expect([api.blocks.size, usableOf(blocks)]).toEqual([1, 0]);
  });

  test("that a power loss brings back deletes no block with leases", async () => {
    await claimed();
    const [block] = api.blocks.values();
    hold(address);
    directory().noteLeaving(block?.uid ?? "", block?.name ?? "");
    const { blocks } = await started();
    const giveBack = new GiveBack(blocks, 60_000);
    await giveBack.round();
    expect([api.blocks.size, usableOf(blocks)]).toEqual([1, 0]);
    unlinkSync(join(root, "storage", address));
    await giveBack.round();
    expect([api.blocks.size, directory().leaving().size]).toEqual([0, 0]);
  });

  test("of a claim that could not be given back at once makes the same daemon repeat the deletion", async () => {
    const { claims, blocks } = await started();
    const giveBack = new GiveBack(blocks, 60_000);
    for (let index = 0; index < 4; index++) api.refused.add(`storage-${index}`);
    api.pools = { ...poolOf(spec), finalizers: [poolFinalizer], uid: "another" };
    expect(await claims.claim(whole)).toMatchObject({ ok: false });
    expect(api.blocks.size).toBe(1);
    api.refused.clear();
    await giveBack.round();
    expect([api.blocks.size, directory().leaving().size]).toEqual([0, 0]);
  });
});

/** A copy of the state directory. */
const copy = (): string => `${root}-copy`;
const openPools = (): NodePools =>
  new NodePools({
    directory: directory(),
    nodeName: "n1",
    api: async () => api as unknown as BlockApi,
    event: () => undefined,
    now,
    warn: () => undefined,
  });

describe("a state directory", () => {
  afterEach(() => rmSync(copy(), { recursive: true, force: true }));

  test("that is a copy of another node's uses no block of that node and gives none back", async () => {
    const { claims, blocks } = await started();
    await claims.claim(whole);
    cpSync(root, copy(), { recursive: true });
    const copied = await started("n2", new PoolDirectory(copy()));
    const warning =
      "of node n1 has the identity of this node's state directory and is not used: the directory is a copy, or the node was renamed";
    expect([usableOf(copied.blocks), copied.warnings]).toEqual([0, [expect.stringContaining(warning)]]);
    await new GiveBack(copied.blocks, 0).round();
    expect([api.blocks.size, usableOf(blocks)]).toEqual([1, 1]);
    expect(await copied.claims.claim(whole)).toEqual(ok(undefined));
    expect([api.blocks.size, usableOf(copied.blocks)]).toEqual([2, 1]);
    expect(usableOf((await started()).blocks)).toBe(1);
  });

  test("has one daemon at a time: the next one waits, and the first one hands out nothing from then on", async () => {
    const [first, second] = [openPools(), openPools()];
    try {
      const access = await first.open("storage");
      if (!access.ok) throw new Error(access.fault.msg);
      await access.value.ready();
      await access.value.claim(whole);
      expect(access.value.usable()).toHaveLength(1);
      const msg = expect.stringContaining(`another plexusd still uses the pools in ${root}`);
      expect(await second.open("storage")).toMatchObject({ ok: false, fault: { kind: "POOL_UNAVAILABLE", msg } });
      first.close();
      expect([access.value.usable(), await first.open("storage")]).toMatchObject([[], { ok: false }]);
      const next = await second.open("storage");
      if (!next.ok) throw new Error(next.fault.msg);
      await next.value.ready();
      expect(next.value.usable()).toHaveLength(1);
    } finally {
      first.close();
      second.close();
    }
  });
});

describe("a daemon whose requests get no answer", () => {
  afterEach(() => void vi.useRealTimers());

  test("goes on with its blocks, because only its own silence counts as a pause", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "setTimeout", "performance", "Date"] });
    const warnings: string[] = [];
    const pools = new NodePools({
      directory: directory(),
      nodeName: "n1",
      api: async () => api as unknown as BlockApi,
      event: () => undefined,
      now: () => ({ monotonicMs: performance.now(), wallMs: Date.now() }),
      warn: (text) => void warnings.push(text),
    });
    const access = await pools.open("storage");
    if (!access.ok) throw new Error(access.fault.msg);
    await access.value.ready();
    expect(await access.value.claim(whole)).toEqual(ok(undefined));
    api.hangs = true;
    await vi.advanceTimersByTimeAsync(600_000);
    expect([access.value.usable().length, await access.value.ready(), warnings]).toEqual([1, ok(undefined), []]);
    await vi.advanceTimersByTimeAsync(14_400_000 * 0.8);
    expect(access.value.usable()).toEqual([]);
    pools.close();
  });
});

describe("a daemon that was started without the API", () => {
  test("knows no block, and completes configurations by its copy of the pool", async () => {
    const before = await started();
    await before.claims.claim(whole);
    api.isAway = true;
    const { blocks } = await started();
    expect([usableOf(blocks), (await blocks.ready()).ok]).toEqual([0, false]);
    expect((await blocks.pool("storage")).ok).toBe(false);
    // The copy is the object as the API sent it.
    directory().keepPool("storage", JSON.stringify({ metadata: { name: "storage", uid: "u", resourceVersion: "1" }, spec }));
    expect(await blocks.poolOrCopy("storage")).toMatchObject({ ok: true, value: { blockSize: 64 } });
  });
});
