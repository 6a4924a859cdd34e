// The knowledge of a node's daemon about its blocks, and how long the daemon may hand out addresses from them. Knowledge comes from requests to the API
// server and counts from their start. It ends after 80 % of the block's `freeAfterSeconds`, because the controller deletes a block of a gone
// node only that long after a mark that each later request would have shown (free-block.ts). It also ends with a restart or a pause of the
// process, because the length of the pause is unknown. Time and requests come from the caller.

import type { AddressBlock } from "./address-block.ts";
import type { AddressPool } from "./address-pool.ts";
import { assignableSpans, blockAt } from "./pool-blocks.ts";
import type { AddressSpan } from "./spans.ts";

/** A moment on the clocks of one machine, in milliseconds. */
export interface Moment {
  /** The monotonic clock, which no program sets. It may stand still while the machine is suspended. */
  readonly monotonicMs: number;
  /** The clock of the day. It may jump. */
  readonly wallMs: number;
}

/** The start of a request whose answer becomes knowledge. */
export interface RequestStart {
  readonly at: number;
  readonly epoch: number;
}

/** The share of `freeAfterSeconds` for which knowledge holds. The rest allows for clocks that run at different speeds. */
const knowledgeShare = 0.8;

/** Milliseconds that the clocks may differ between two moments, for example when the clock of the day is slewed. */
const toleranceMs = 1000;

/** A longer time without a moment is a pause: the daemon notes a moment each second. */
const maxSilenceMs = 15_000;

interface KnownBlock {
  readonly block: AddressBlock;
  /** The start of the request that showed the block. */
  readonly asOf: number;
}

/** A block that the node may use, with the addresses that it may hand out. */
export interface UsableBlock {
  readonly block: AddressBlock;
  readonly spans: readonly AddressSpan[];
}

/** The knowledge of one daemon, from its start on. */
export class BlockKnowledge {
  readonly #holder: string;
  readonly #known = new Map<string, KnownBlock>();
  /** UIDs of blocks for which a deletion was or will be sent. Such a block is never used again: the request may arrive late. */
  readonly #leaving: Set<string>;
  readonly #spans = new WeakMap<AddressPool, Map<string, readonly AddressSpan[]>>();
  #epoch = 0;
  #last: Moment | undefined;
  #isComplete = false;

  /** `leaving`: the UIDs for which earlier daemons with this holder have sent a deletion. */
  constructor(holder: string, leaving: Iterable<string> = []) {
    this.#holder = holder;
    this.#leaving = new Set(leaving);
  }

  /** Whether all blocks of the node were looked at since the start or the last pause. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** All known blocks of this holder, also those that may not be used. */
  get blocks(): readonly AddressBlock[] {
    return [...this.#known.values()].map(({ block }) => block);
  }

  /** Notes a moment. A pause or a jump of a clock voids all knowledge. False: it did. */
  observe(now: Moment): boolean {
    const last = this.#last;
    this.#last = now;
    if (last === undefined) return true;
    const passed = now.monotonicMs - last.monotonicMs;
    const differs = Math.abs(now.wallMs - last.wallMs - passed) > toleranceMs;
    if (passed >= 0 && passed <= maxSilenceMs && !differs) return true;
    this.#epoch++;
    this.#known.clear();
    this.#isComplete = false;
    return false;
  }

  /** The start of a request at this moment. */
  begin(now: Moment): RequestStart {
    this.observe(now);
    return { at: now.monotonicMs, epoch: this.#epoch };
  }

  /**
   * Notes the answer of a look at all blocks of the node. Blocks of other holders are left out. `asked`: the names that were read, where they were not listed.
   */
  noteList(start: RequestStart, blocks: readonly AddressBlock[], now: Moment, asked?: ReadonlySet<string>): void {
    this.observe(now);
    // The answer may be from before the pause.
    if (start.epoch !== this.#epoch) return;
    // A block that was claimed after the start may be missing in the list.
    for (const [uid, { block, asOf }] of this.#known)
      if (asOf < start.at && asked?.has(block.name) !== false) this.#known.delete(uid);
    for (const block of blocks) this.#note(block, start.at);
    this.#isComplete = true;
  }

  /** Notes a block that a request of this daemon has created, or read. */
  noteBlock(start: RequestStart, block: AddressBlock, now: Moment): void {
    this.observe(now);
    if (start.epoch === this.#epoch) this.#note(block, start.at);
  }

  /** The blocks of a pool that may be used at this moment. The caller asks again after it has reserved an address. */
  usable(pool: AddressPool, now: Moment): readonly UsableBlock[] {
    this.observe(now);
    return [...this.#known.values()].flatMap(({ block, asOf }) => {
      if (block.pool !== pool.name || !this.#mayUse(block, asOf, now)) return [];
      const place = blockAt(pool, block.index);
      const fits =
        place?.span.family === block.span.family && place.span.first === block.span.first && place.span.last === block.span.last;
      // A block with other addresses is of a pool that had this name before.
      return fits ? [{ block, spans: this.#spansOf(pool, block) }] : [];
    });
  }

  /** The addresses of a block to hand out. Kept, because a pool may have hundreds of exclusions and each ADD asks twice. */
  #spansOf(pool: AddressPool, block: AddressBlock): readonly AddressSpan[] {
    let ofPool = this.#spans.get(pool);
    if (ofPool === undefined) this.#spans.set(pool, (ofPool = new Map()));
    const known = ofPool.get(block.uid) ?? assignableSpans(pool, block.span);
    ofPool.set(block.uid, known);
    return known;
  }

  /** Excludes a block from use before its deletion. `stay` takes it back if no deletion was sent. */
  leave(uid: string): void {
    this.#leaving.add(uid);
  }

  /** See `leave`. */
  stay(uid: string): void {
    this.#leaving.delete(uid);
  }

  /** Forgets a block that a request did not find. A later answer may show it again. */
  forget(uid: string): void {
    this.#known.delete(uid);
  }

  /** Forgets a block whose deletion the server has confirmed. Its UID stays excluded: the answer of an older list may still arrive. */
  gone(uid: string): void {
    this.#known.delete(uid);
    this.#leaving.add(uid);
  }

  #note(block: AddressBlock, asOf: number): void {
    if (block.holder !== this.#holder) return;
    const known = this.#known.get(block.uid);
    if (known === undefined || known.asOf <= asOf) this.#known.set(block.uid, { block, asOf });
  }

  #mayUse(block: AddressBlock, asOf: number, now: Moment): boolean {
    const holdsMs = block.freeAfterSeconds * 1000 * knowledgeShare;
    return !block.isOrphaned && !block.isDeleted && !this.#leaving.has(block.uid) && now.monotonicMs - asOf < holdsMs;
  }
}
