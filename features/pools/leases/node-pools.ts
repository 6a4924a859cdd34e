// The pools of the cluster on one node, in a daemon. Knowledge and requests begin with the first call that names a pool, or with the daemon on a node that
// has used pools; elsewhere nothing of this runs.

import type { AddressBlock } from "../rules/address-block.ts";
import type { AddressPool } from "../rules/address-pool.ts";
import { completedBy, type PoolUser } from "../rules/pool-configuration.ts";
import { assignableSpans } from "../rules/pool-blocks.ts";
import { type AddressSpan, hasAddress, sizeOf } from "../rules/spans.ts";
import { type Fault, fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import type { FileLock } from "../../../host/store/locks/file-lock.ts";
import { GiveBack } from "./give-back.ts";
import { copyOf, NodeBlocks, type NodeBlocksInit } from "./node-blocks.ts";
import type { PoolAccess, Pools } from "./pool-access.ts";
import { NodeReservations } from "./node-reservations.ts";
import { PoolClaims } from "./pool-claims.ts";
import type { StaticAddresses } from "./static-addresses.ts";

/** Interval in ms of the timer that finds pauses of the process. */
const tickMs = 1_000;
/** Interval in ms of the search for empty blocks. */
const giveBackMs = 30_000;
/** Milliseconds from a reservation to the decision whether the next block is claimed ahead. */
const aheadMs = 20;
/** Interval in ms of the search for holders of reservations whose leases are gone. */
const reservationsMs = 60_000;
/** The next block is claimed ahead while less than this share of a block is free. */
const aheadShare = 0.25;
/** With smaller blocks nothing is claimed ahead: a pool with such blocks has few addresses. */
const minSizeForAhead = 8;

/** Settings. */
export interface NodePoolsInit extends NodeBlocksInit {
  /** Milliseconds for which a block is empty before it is given back. */
  readonly idleMs?: number;
}

/** The pools of one node. */
export class NodePools implements Pools {
  readonly root: string;
  readonly #init: NodePoolsInit;
  #blocks: NodeBlocks | undefined;
  #reservations: NodeReservations | undefined;
  #lock: FileLock | undefined;
  readonly #accesses = new Map<string, PoolAccess>();
  readonly #timers: NodeJS.Timeout[] = [];
  #later: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(init: NodePoolsInit) {
    this.#init = init;
    this.root = init.directory.root;
  }

  async open(name: string): Promise<Result<PoolAccess>> {
    const opened = this.#open();
    if (!opened.ok) return opened;
    const known = this.#accesses.get(name);
    if (known !== undefined) return ok(known);
    const blocks = opened.value;
    const pool = await blocks.pool(name);
    if (!pool.ok) return pool;
    const access = this.#accesses.get(name) ?? this.#accessOf(blocks, name);
    this.#accesses.set(name, access);
    return ok(access);
  }

  async complete(name: string, configuration: string, user: PoolUser): Promise<Result<string>> {
    const opened = this.#open();
    const pool = opened.ok ? await opened.value.poolOrCopy(name) : this.#copyOr(opened.fault, name);
    return pool.ok ? completedBy(pool.value, configuration, user) : pool;
  }

  statics(): StaticAddresses | undefined {
    return this.#reservations;
  }

  noteReleased(name: string): void {
    if (this.#open().ok) this.#reservations?.noteReleased(name);
  }

  /** Begins the background work for the pools that an earlier process used: empty blocks go back, and holders without a lease are taken out. */
  resume(): void {
    const pools = this.#isClosed ? [] : this.#init.directory.pools();
    if (pools.length === 0) return;
    if (!this.#open().ok) {
      // An earlier daemon may still serve its last calls.
      this.#later = setTimeout(() => this.resume(), tickMs).unref();
      return;
    }
    for (const pool of pools) this.#reservations?.noteReleased(pool);
  }

  /** Ends the background work, and leaves the directory to the next daemon: no address is handed out any more. */
  close(): void {
    this.#isClosed = true;
    for (const timer of this.#timers) clearInterval(timer);
    clearTimeout(this.#later);
    this.#lock?.release();
    this.#lock = undefined;
  }

  #open(): Result<NodeBlocks> {
    if (this.#isClosed) return failed(fault("POOL_UNAVAILABLE", "plexusd is stopping"));
    if (this.#blocks !== undefined) return ok(this.#blocks);
    const lock = this.#init.directory.take();
    if (!lock.ok) return lock;
    const opened = NodeBlocks.open(this.#init);
    if (!opened.ok) {
      lock.value.release();
      return opened;
    }
    this.#lock = lock.value;
    const blocks = opened.value;
    const giveBack = new GiveBack(blocks, this.#init.idleMs);
    const reservations = new NodeReservations(blocks);
    this.#blocks = blocks;
    this.#reservations = reservations;
    this.#timers.push(setInterval(() => blocks.noteTime(), tickMs).unref());
    this.#every(tickMs, () => blocks.refresh());
    this.#every(reservationsMs, () => reservations.roundOfAll());
    this.#every(Math.min(giveBackMs, this.#init.idleMs ?? giveBackMs), () => giveBack.round());
    return ok(blocks);
  }

  /** The node's copy of a pool, for a daemon that may not use the directory yet; the fault `why` without a copy. */
  #copyOr(why: Fault, name: string): Result<AddressPool> {
    const copy = copyOf(this.#init.directory, name);
    return copy === undefined ? failed(why) : ok(copy);
  }

  /** Repeats background work, one run at a time. */
  #every(ms: number, work: () => Promise<void>): void {
    let isRunning = false;
    const run = async (): Promise<void> => {
      if (isRunning || this.#isClosed) return;
      isRunning = true;
      try {
        await work();
      } catch (error) {
        this.#init.warn(`pools: ${error instanceof Error ? error.message : String(error)}`);
      } finally {
        isRunning = false;
      }
    };
    this.#timers.push(setInterval(() => void run(), ms).unref());
  }

  #accessOf(blocks: NodeBlocks, name: string): PoolAccess {
    const claims = new PoolClaims(blocks, name);
    const { knowledge, init } = blocks;
    const usable = (): readonly AddressSpan[] => {
      const pool = this.#isClosed ? undefined : blocks.knownPool(name);
      return pool === undefined ? [] : knowledge.usable(pool, init.now()).flatMap(({ spans }) => spans);
    };
    let isLooking = false;
    const noteReserved = (): void => {
      if (isLooking) return;
      isLooking = true;
      const look = async (): Promise<void> => {
        try {
          if (!this.#isClosed) await this.#claimAhead(blocks, claims, name);
        } catch (error) {
          init.warn(`pools: ${error instanceof Error ? error.message : String(error)}`);
        } finally {
          isLooking = false;
        }
      };
      setTimeout(() => void look(), aheadMs).unref();
    };
    return {
      ready: () => blocks.ready(),
      usable,
      isUsable: (address) => hasAddress(usable(), address),
      claim: (spans) => claims.claim(spans),
      claimWith: (address) => claims.claimWith(address),
      canClaim: (spans) => claims.canClaim(spans),
      noteReserved,
    };
  }

  /** Claims the next block of a family if the node has blocks of it with few free addresses. */
  async #claimAhead({ knowledge, init }: NodeBlocks, claims: PoolClaims, name: string): Promise<void> {
    const pool = this.#blocks?.knownPool(name);
    if (pool === undefined || pool.blockSize < minSizeForAhead) return;
    const usable = knowledge.usable(pool, init.now()).map(({ block }) => block);
    for (const family of [4, 6] as const) {
      const own = usable.filter(({ span }) => span.family === family);
      if (own.length === 0) continue;
      const free = freeIn(own, init, (block) => Number(sizeOf(assignableSpans(pool, block.span))));
      if (free < pool.blockSize * aheadShare) await claims.claimAhead(family);
    }
  }
}

/** The number of free addresses in blocks of one pool. */
function freeIn(
  blocks: readonly AddressBlock[],
  { directory }: NodeBlocksInit,
  sizeOfBlock: (block: AddressBlock) => number,
): number {
  const [first] = blocks;
  if (first === undefined) return 0;
  const used = directory.leasesIn(
    first.pool,
    blocks.map(({ span }) => span),
  );
  return blocks.reduce((sum, block, index) => sum + sizeOfBlock(block) - (used[index] ?? 0), 0);
}
