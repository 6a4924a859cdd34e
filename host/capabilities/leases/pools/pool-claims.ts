// Claims blocks of one pool for a node. The creation of an AddressBlock is the lock, so the claim is one request unless another node was faster.

import type { AddressBlock } from "../../../../src/address-pool/address-block.ts";
import { type AddressPool, claimObstacle } from "../../../../src/address-pool/address-pool.ts";
import { candidates } from "../../../../src/address-pool/next-block.ts";
import { assignableSpans, blockAt, blockNumbers, indexOf, type PoolBlock } from "../../../../src/address-pool/pool-blocks.ts";
import { type AddressSpan, hasAddress, intersections } from "../../../../src/address-pool/spans.ts";
import { fault } from "../../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../../src/fault/result.ts";
import { type Family, formatAddress, type IpAddress } from "../../../../src/net/ip.ts";
import type { BlockApi } from "../../../cluster/pools/block-api.ts";
import type { NodeBlocks } from "./node-blocks.ts";

/** Milliseconds for which a full pool counts as full: calls that wait for an address must not list the pool's blocks each time. */
const fullMs = 2_000;
/** Milliseconds for which a pool with room counts as such: runtimes send STATUS every few seconds. */
const roomMs = 10_000;
/** Refused claims after which the pool's blocks are listed again. */
const maxRefusals = 4;
/** The next block is claimed ahead only while this share of the pool's blocks is free, so that a node takes none from others. */
const freeShareForAhead = 0.25;

/** The claims of one node in one pool. */
export class PoolClaims {
  readonly #blocks: NodeBlocks;
  readonly #pool: string;
  readonly #claiming = new Map<Family, Promise<Result<void>>>();
  readonly #fullUntilMs = new Map<Family, number>();
  readonly #roomUntilMs = new Map<Family, number>();

  constructor(blocks: NodeBlocks, pool: string) {
    this.#blocks = blocks;
    this.#pool = pool;
  }

  /** Claims a block with addresses of `spans`, which have one family. Concurrent callers share a claim. Faults: POOL_FULL, POOL_UNAVAILABLE, CONFIG_INVALID. */
  claim(spans: readonly AddressSpan[]): Promise<Result<void>> {
    const family = spans[0]?.family ?? 4;
    const claiming = this.#claiming.get(family) ?? this.#claim(family, spans).finally(() => this.#claiming.delete(family));
    this.#claiming.set(family, claiming);
    return claiming;
  }

  /** Claims the block with an address. False: another node has the block, or the address is never handed out. */
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
    const family = spans[0]?.family ?? 4;
    if (this.#isFull(family)) return ok(false);
    const nowMs = this.#blocks.init.now().monotonicMs;
    if (nowMs < (this.#roomUntilMs.get(family) ?? -Infinity)) return ok(true);
    const taken = await this.#taken(terms.value);
    if (!taken.ok) return taken;
    const hasRoom = firstWith(pool, family, node, taken.value, spans) !== undefined;
    if (hasRoom) this.#roomUntilMs.set(family, nowMs + roomMs);
    return ok(hasRoom);
  }

  /** Claims the next block in the background, if the pool has plenty. */
  async claimAhead(family: Family): Promise<void> {
    const terms = await this.#terms();
    if (!terms.ok || this.#isFull(family)) return;
    const { pool } = terms.value;
    const numbers = blockNumbers(pool).filter(({ range }) => range.span.family === family);
    const total = numbers.reduce((sum, { count }) => sum + count, 0);
    const taken = await this.#taken(terms.value);
    if (!taken.ok) return;
    const takenHere = [...taken.value].filter((index) => blockAt(pool, index)?.span.family === family).length;
    if (total - takenHere <= total * freeShareForAhead) return;
    await this.claim(numbers.map(({ range }) => range.span));
  }

  async #claim(family: Family, spans: readonly AddressSpan[]): Promise<Result<void>> {
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
    if (this.#isFull(family)) return failed(this.#full(pool));
    // The node's own blocks are known, the others are not: the first try is at the node's own place.
    let taken = new Set(this.#ownIndexes());
    let isListed = false;
    for (let refusals = 0; ;) {
      const block = firstWith(pool, family, node, taken, spans);
      if (block === undefined && isListed) {
        this.#roomUntilMs.delete(family);
        this.#fullUntilMs.set(family, this.#blocks.init.now().monotonicMs + fullMs);
        return failed(this.#full(pool));
      }
      const made = block === undefined ? ok(undefined) : await this.#create(terms.value, block);
      if (!made.ok) return made;
      if (made.value !== undefined) return ok(undefined);
      if (block !== undefined) {
        taken.add(block.index);
        refusals++;
      }
      if (block === undefined || refusals % maxRefusals === 1) {
        const own = this.#blocks.blocks.length;
        const listed = await this.#taken(terms.value);
        if (!listed.ok) return listed;
        // The list may show a block of this node: the answer of an earlier claim was lost.
        if (this.#blocks.blocks.length > own) return ok(undefined);
        taken = new Set(listed.value);
        isListed = true;
      }
    }
  }

  /** The created block; undefined if it is taken. */
  async #create({ pool, node, api }: Terms, { index, span }: PoolBlock): Promise<Result<AddressBlock | undefined>> {
    const { knowledge, holder, init } = this.#blocks;
    const start = knowledge.begin(init.now());
    const { freeAfterSeconds, name } = pool;
    const outcome = await api.claim({ pool: name, index, span, node, holder, freeAfterSeconds });
    if (outcome.kind === "failed")
      return failed(fault("POOL_UNAVAILABLE", `no block of AddressPool ${name} can be claimed: ${outcome.why}`));
    if (outcome.kind === "taken") return ok(undefined);
    const { block } = outcome;
    // The pool's finalizer protects a block from the moment on at which the pool is not being deleted. A pool that was deleted between its read and
    // the claim may have been replaced by one with other ranges.
    const again = await this.#blocks.readPoolAnew(name);
    const obstacle = again.ok ? claimObstacle(again.value) : again.fault.msg;
    if (obstacle === undefined && again.ok && again.value.uid === pool.uid) {
      knowledge.noteBlock(start, block, init.now());
      return ok(block);
    }
    await this.#discard(block, api);
    const why = obstacle ?? "was replaced by another one";
    return failed(fault("POOL_UNAVAILABLE", `a block of AddressPool ${name} was claimed and given back: ${why}`));
  }

  /** Gives a block back that was never used. */
  async #discard({ uid, name }: AddressBlock, api: BlockApi): Promise<void> {
    const { knowledge, init } = this.#blocks;
    knowledge.leave(uid);
    init.directory.noteLeaving(uid, name);
    if ((await api.remove(name, uid)) === "gone") init.directory.noteGone(uid);
  }

  /** The numbers of the pool's claimed blocks, from the API. Blocks of this node among them become known. */
  async #taken({ pool, node, api }: Terms): Promise<Result<ReadonlySet<number>>> {
    const { knowledge, init } = this.#blocks;
    const start = knowledge.begin(init.now());
    const listed = await api.blocksOfPool(pool.name);
    if (!listed.ok) return listed;
    for (const block of listed.value.blocks) if (block.node === node) knowledge.noteBlock(start, block, init.now());
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

  #isFull(family: Family): boolean {
    return this.#blocks.init.now().monotonicMs < (this.#fullUntilMs.get(family) ?? -Infinity);
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

/** The first block for the node to try that has assignable addresses of `spans`. */
function firstWith(
  pool: AddressPool,
  family: Family,
  node: string,
  taken: ReadonlySet<number>,
  spans: readonly AddressSpan[],
): PoolBlock | undefined {
  for (const block of candidates(pool, family, node, taken)) {
    if (intersections(assignableSpans(pool, block.span), spans).length > 0) return block;
  }
  return undefined;
}
