// Claims blocks of one pool for a node. The creation of an AddressBlock is the lock, so the claim is one request unless another node was faster.

import { type AddressBlock, blockName } from "../rules/address-block.ts";
import { type AddressPool, claimObstacle } from "../rules/address-pool.ts";
import { candidates } from "../rules/next-block.ts";
import { assignableSpans, blockAt, blockNumbers, indexOf, type PoolBlock, poolSpans } from "../rules/pool-blocks.ts";
import { freeAddressesOf } from "../rules/free-addresses.ts";
import { type AddressSpan, formatSpan, hasAddress, intersections } from "../rules/spans.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { type Family, formatAddress, type IpAddress } from "../../../src/net/ip.ts";
import type { BlockApi } from "../api/block-api.ts";
import type { NodeBlocks } from "./node-blocks.ts";

/** Milliseconds for which a full pool counts as full: calls that wait for an address must not list the pool's blocks each time. */
const fullMs = 2_000;
/** Milliseconds for which a pool with free addresses counts as such: runtimes send STATUS every few seconds. */
const freeMs = 10_000;
/**
 * Refused claims after which the pool's blocks are listed: a list of all blocks by each node that meets one other node grows with the cluster's square. In a
 * half-used pool a search meets four blocks of others in one of ten claims, so a large pool's list, which costs as much as many claims, comes later.
 */
const refusalsBeforeListing = { least: 4, most: 32 } as const;
/** Blocks of a pool for each refused claim before its list. */
const blocksOfRefusal = 256;
/** While the pool's status says that no address is free, its blocks are listed that many milliseconds for each of them apart, at most `maxListingMs`. */
const listingMsOfBlock = 20;
const maxListingMs = 300_000;
/** Refused blocks after which a claim ends: other nodes claim faster, or the blocks' objects are malformed. */
const maxRefusalsOfClaim = 256;
/** Maximum wanted ranges (`keyOf`) whose claims are remembered: authors of definitions choose ranges, so their number has no bound of its own. */
const maxKeys = 64;
/** The next block is claimed ahead only while more than this part of the pool is free, so that a node takes none from others. */
const freePercentForAhead = 25;

/** The claims of one node in one pool. */
export class PoolClaims {
  readonly #blocks: NodeBlocks;
  readonly #pool: string;
  /** Running claims by the text of the wanted ranges (`keyOf`): networks of one pool may use different ranges of it. */
  readonly #claiming = new Map<string, Promise<Result<void>>>();
  readonly #fullUntil = new Map<string, number>();
  readonly #freeUntil = new Map<string, number>();
  /** The next list of a pool that is full by its status. */
  #nextListingAt = -Infinity;

  constructor(blocks: NodeBlocks, pool: string) {
    this.#blocks = blocks;
    this.#pool = pool;
  }

  /** Claims a block with addresses of `spans`, which have one family. Concurrent callers share a claim. Faults: POOL_FULL, POOL_UNAVAILABLE, CONFIG_INVALID. */
  claim(spans: readonly AddressSpan[]): Promise<Result<void>> {
    const key = keyOf(spans);
    const claiming = this.#claiming.get(key) ?? this.#claim(key, spans).finally(() => this.#claiming.delete(key));
    this.#claiming.set(key, claiming);
    return claiming;
  }

  /** Claims the block that contains an address. False: another node has the block, or the address is not assignable. */
  async claimWith(address: IpAddress): Promise<Result<boolean>> {
    const terms = await this.#terms();
    if (!terms.ok) return terms;
    const { pool } = terms.value;
    const index = indexOf(pool, address);
    const block = index === undefined ? undefined : blockAt(pool, index);
    if (block === undefined) {
      return failed(fault("CONFIG_INVALID", `${formatAddress(address)} is not an address of AddressPool ${pool.name}`));
    }
    if (!hasAddress(assignableSpans(pool, block.span), address)) return ok(false);
    const made = await this.#create(terms.value, block);
    if (!made.ok) return made;
    return ok(made.value !== undefined || this.#usableSpans(pool).some((span) => hasAddress([span], address)));
  }

  /** Whether a block with addresses of `spans` could be claimed. */
  async canClaim(spans: readonly AddressSpan[]): Promise<Result<boolean>> {
    const terms = await this.#terms();
    if (!terms.ok) return terms;
    const { pool, node } = terms.value;
    const key = keyOf(spans);
    if (this.#isFull(key)) return ok(false);
    const now = this.#blocks.init.now().monotonicMs;
    if (now < (this.#freeUntil.get(key) ?? -Infinity)) return ok(true);
    if (this.#isFullByStatus(pool, spans)) return ok(false);
    const [{ family } = { family: 4 as const }] = spans;
    if (freeAddressesOf(pool, family) === "plenty" && key === keyOf(poolSpans(pool, family))) {
      note(this.#freeUntil, key, now + freeMs);
      return ok(true);
    }
    const taken = await this.#taken(terms.value);
    if (!taken.ok) return taken;
    const hasFreeBlock = firstWith(pool, node, taken.value, spans) !== undefined;
    if (hasFreeBlock) note(this.#freeUntil, key, now + freeMs);
    return ok(hasFreeBlock);
  }

  /** Claims the next block in the background, if the pool has plenty. */
  async claimAhead(family: Family): Promise<void> {
    const terms = await this.#terms();
    if (!terms.ok) return;
    const { pool } = terms.value;
    const spans = poolSpans(pool, family);
    if (this.#isFull(keyOf(spans))) return;
    const free = freeAddressesOf(pool, family, freePercentForAhead);
    if (free === "none" || (free === "unknown" && !(await this.#isPartFree(terms.value, family)))) return;
    await this.claim(spans);
  }

  /** Whether so many blocks of the family are free, by a list, that the next one may be claimed ahead. */
  async #isPartFree(terms: Terms, family: Family): Promise<boolean> {
    const { pool } = terms;
    const numbers = blockNumbers(pool).filter(({ range }) => range.span.family === family);
    const total = numbers.reduce((sum, { count }) => sum + count, 0);
    const taken = await this.#taken(terms);
    if (!taken.ok) return false;
    const takenHere = [...taken.value].filter((index) => blockAt(pool, index)?.span.family === family).length;
    return total - takenHere > (total * freePercentForAhead) / 100;
  }

  async #claim(key: string, spans: readonly AddressSpan[]): Promise<Result<void>> {
    const terms = await this.#terms();
    if (!terms.ok) return terms;
    const { pool, node } = terms.value;
    if (
      intersections(
        spans,
        pool.ranges.map(({ span }) => span),
      ).length === 0
    ) {
      return failed(
        fault("CONFIG_INVALID", `ipam.ranges has no address of AddressPool ${pool.name}: take the ranges out, or correct them`),
      );
    }
    if (this.#isFull(key)) return failed(this.#full(pool));
    if (this.#isFullByStatus(pool, spans)) {
      // The status may be older than the last block that was given back.
      const now = await this.#blocks.readPool(pool.name);
      note(this.#fullUntil, key, this.#blocks.init.now().monotonicMs + fullMs);
      if (!now.ok || this.#isFullByStatus(now.value, spans)) return failed(now.ok ? this.#full(pool) : now.fault);
      this.#fullUntil.delete(key);
    }
    // The node knows its own blocks only. So it first tries the block at which its name begins (`startOf`); the API refuses a block of another node.
    let taken = new Set(this.#ownIndexes());
    // The API refuses a number whose object is malformed, and the list leaves the object out.
    const refused = new Set<number>();
    const refusals = refusalsOf(pool);
    let isListed = false;
    for (;;) {
      const block = firstWith(pool, node, taken, spans);
      if (block === undefined && isListed) {
        this.#freeUntil.delete(key);
        note(this.#fullUntil, key, this.#blocks.init.now().monotonicMs + fullMs);
        return failed(this.#full(pool));
      }
      const made = block === undefined ? ok(undefined) : await this.#create(terms.value, block);
      if (!made.ok) return made;
      if (made.value !== undefined) return ok(undefined);
      if (block !== undefined) {
        taken.add(block.index);
        refused.add(block.index);
        const isOwn = isListed ? ok(false) : await this.#isOwn(terms.value, block);
        if (!isOwn.ok || isOwn.value) return isOwn.ok ? ok(undefined) : isOwn;
      }
      if (refused.size > maxRefusalsOfClaim) {
        const why = `AddressPool ${pool.name}: the API refused ${refused.size} blocks that its list does not have`;
        return failed(fault("POOL_UNAVAILABLE", why));
      }
      if (block === undefined || refused.size % refusals === 0) {
        const own = this.#blocks.blocks.length;
        const listed = await this.#taken(terms.value);
        if (!listed.ok) return listed;
        // The list may show a block of this node: the answer of an earlier claim was lost.
        if (this.#blocks.blocks.length > own) return ok(undefined);
        taken = new Set([...listed.value, ...refused]);
        isListed = true;
      }
    }
  }

  /** The created block; undefined if it is taken. */
  async #create({ pool, node, api }: Terms, { index, span }: PoolBlock): Promise<Result<AddressBlock | undefined>> {
    const { knowledge, holder, init } = this.#blocks;
    const start = knowledge.begin(init.now());
    const { freeAfterSeconds, name } = pool;
    const outcome = await this.#blocks.claim(api, { pool: name, index, span, node, holder, freeAfterSeconds });
    if (outcome.kind === "failed")
      return failed(fault("POOL_UNAVAILABLE", `no block of AddressPool ${name} can be claimed: ${outcome.why}`));
    if (outcome.kind === "taken") return ok(undefined);
    const { block } = outcome;
    // The pool's finalizer protects a block from the moment on at which the pool is not being deleted. A pool that was deleted between its read and
    // the claim may have been replaced by one with other ranges.
    const again = await this.#blocks.readPoolAnew(name);
    const obstacle = again.ok ? claimObstacle(again.value) : again.fault.msg;
    if (obstacle === undefined && again.ok && again.value.uid === pool.uid) {
      this.#blocks.note(start, block);
      return ok(block);
    }
    await this.#discard(block, api);
    const why = obstacle ?? "was replaced by another one";
    return failed(fault("POOL_UNAVAILABLE", `a block of AddressPool ${name} was claimed and given back: ${why}`));
  }

  /** Whether a taken block is this node's, which then becomes known: the answer of an earlier claim was lost. */
  async #isOwn({ pool, node, api }: Terms, { index }: PoolBlock): Promise<Result<boolean>> {
    const { knowledge, init } = this.#blocks;
    const start = knowledge.begin(init.now());
    const read = await api.block(blockName(pool.name, index));
    if (!read.ok) return read;
    if (read.value?.node !== node) return ok(false);
    const { uid } = read.value;
    this.#blocks.note(start, read.value);
    return ok(this.#blocks.blocks.some((known) => known.uid === uid));
  }

  /** Gives a block back that was never used. */
  async #discard({ uid, name }: AddressBlock, api: BlockApi): Promise<void> {
    const { knowledge, init } = this.#blocks;
    knowledge.leave(uid);
    const noted = init.directory.noteLeaving(uid, name);
    // A deletion without a note may arrive after the next daemon has begun to use the block.
    if (!noted.ok) return init.warn(`pools: AddressBlock ${name} is not given back: ${noted.fault.msg}`);
    if ((await api.remove(name, uid)) === "gone") init.directory.noteGone(uid);
  }

  /** The numbers of the pool's claimed blocks, from the API. Blocks of this node among them become known. */
  async #taken({ pool, node, api }: Terms): Promise<Result<ReadonlySet<number>>> {
    const { knowledge, init } = this.#blocks;
    const start = knowledge.begin(init.now());
    const listed = await api.blocksOfPool(pool.name);
    if (!listed.ok) return listed;
    const pauseMs = Math.min(maxListingMs, listed.value.blocks.length * listingMsOfBlock);
    this.#nextListingAt = init.now().monotonicMs + pauseMs;
    for (const block of listed.value.blocks) if (block.node === node) this.#blocks.note(start, block);
    return ok(new Set(listed.value.blocks.map(({ index }) => index)));
  }

  async #terms(): Promise<Result<Terms>> {
    const pool = await this.#blocks.pool(this.#pool);
    if (!pool.ok) return pool;
    const claimant = await this.#blocks.claimant();
    if (!claimant.ok) return claimant;
    const obstacle = claimObstacle(pool.value);
    if (obstacle === undefined) return ok({ ...claimant.value, pool: pool.value });
    // The obstacle may have gone since the pool was read.
    const again = await this.#blocks.readPool(this.#pool);
    if (!again.ok) return again;
    const remaining = claimObstacle(again.value);
    if (remaining === undefined) return ok({ ...claimant.value, pool: again.value });
    return failed(fault("POOL_UNAVAILABLE", `no block of AddressPool ${this.#pool} is claimed, because the pool ${remaining}`));
  }

  #ownIndexes(): readonly number[] {
    return this.#blocks.blocks.flatMap(({ pool, index }) => (pool === this.#pool ? [index] : []));
  }

  #usableSpans(pool: AddressPool): readonly AddressSpan[] {
    const { knowledge, init } = this.#blocks;
    return knowledge.usable(pool, init.now()).flatMap(({ spans }) => spans);
  }

  /** Whether the pool's status says that no address is free, and it is too early for a list that could show otherwise. */
  #isFullByStatus(pool: AddressPool, spans: readonly AddressSpan[]): boolean {
    const isEarly = this.#blocks.init.now().monotonicMs < this.#nextListingAt;
    return isEarly && spans.every(({ family }) => freeAddressesOf(pool, family) === "none");
  }

  #isFull(key: string): boolean {
    return this.#blocks.init.now().monotonicMs < (this.#fullUntil.get(key) ?? -Infinity);
  }

  #full({ name }: AddressPool): ReturnType<typeof fault> {
    const own = this.#ownIndexes().length;
    const why = `AddressPool ${name} is full: no block is free, and the ${own} blocks of this node have no free address`;
    return fault("POOL_FULL", why);
  }
}

interface Terms {
  readonly pool: AddressPool;
  readonly node: string;
  readonly api: BlockApi;
}

/** Refused claims after which this pool's blocks are listed. */
function refusalsOf(pool: AddressPool): number {
  const blocks = blockNumbers(pool).reduce((sum, { count }) => sum + count, 0);
  const { least, most } = refusalsBeforeListing;
  return Math.min(Math.max(Math.floor(blocks / blocksOfRefusal), least), most);
}

/** The first block that the node should try: a block with assignable addresses of `spans`, which have one family. */
function firstWith(
  pool: AddressPool,
  node: string,
  taken: ReadonlySet<number>,
  spans: readonly AddressSpan[],
): PoolBlock | undefined {
  for (const block of candidates(pool, spans[0]?.family ?? 4, node, taken, spans)) {
    if (intersections(assignableSpans(pool, block.span), spans).length > 0) return block;
  }
  return undefined;
}

/** The wanted ranges as one text, the key under which their claims are remembered. */
function keyOf(spans: readonly AddressSpan[]): string {
  return spans.map(formatSpan).join(" ");
}

/** Sets the time of a key, and drops the oldest key beyond `maxKeys`. */
function note(moments: Map<string, number>, key: string, ms: number): void {
  moments.delete(key);
  moments.set(key, ms);
  const [oldest] = moments.keys();
  if (moments.size > maxKeys && oldest !== undefined) moments.delete(oldest);
}
