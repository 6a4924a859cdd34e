// Gives blocks back that have been empty for a while. Once the deletion of a block may have been sent, the node never uses the block again: the
// request may arrive late. So the node notes it in a file first.

import type { AddressBlock } from "../rules/address-block.ts";
import { assignableSpans } from "../rules/pool-blocks.ts";
import { sizeOf } from "../rules/spans.ts";
import type { NodeBlocks } from "./node-blocks.ts";

/** Milliseconds for which a block is empty before it is given back. */
const defaultIdleMs = 600_000;

/** Gives blocks of one node back. */
export class GiveBack {
  readonly #blocks: NodeBlocks;
  readonly #idleMs: number;
  /** The time at which each block was first seen empty, by UID. */
  readonly #emptySince = new Map<string, number>();
  /** Blocks whose deletion is not confirmed: names by UID. */
  readonly #leaving: Map<string, string>;

  constructor(blocks: NodeBlocks, idleMs = defaultIdleMs) {
    this.#blocks = blocks;
    this.#idleMs = idleMs;
    this.#leaving = new Map(blocks.init.directory.leaving());
  }

  /** Gives empty blocks back, and repeats deletions that the API has not confirmed. */
  async round(): Promise<void> {
    const { knowledge, init } = this.#blocks;
    const now = init.now().monotonicMs;
    // A claim that was given back at once has a note, too.
    for (const [uid, name] of init.directory.leaving()) if (!this.#leaving.has(uid)) this.#leaving.set(uid, name);
    const empty = this.#blocks.blocks.filter((block) => this.#isEmpty(block));
    for (const uid of this.#emptySince.keys()) if (!empty.some((block) => block.uid === uid)) this.#emptySince.delete(uid);
    for (const block of empty) {
      const since = this.#emptySince.get(block.uid) ?? now;
      this.#emptySince.set(block.uid, since);
      if (now - since < this.#idleMs || this.#leaving.has(block.uid) || this.#isNeeded(block)) continue;
      // The node hands out no address of the block from here on. An address from before has its lease file by now.
      knowledge.leave(block.uid);
      if (!this.#isEmpty(block)) knowledge.stay(block.uid);
      else if (init.directory.noteLeaving(block.uid, block.name).ok) this.#leaving.set(block.uid, block.name);
      // A failed write may have left the note, by which the next daemon would delete the block: without its removal the block stays out of use.
      else if (init.directory.noteGone(block.uid).ok) knowledge.stay(block.uid);
    }
    await this.#deleteLeaving();
  }

  async #deleteLeaving(): Promise<void> {
    const { knowledge, init } = this.#blocks;
    if (this.#leaving.size === 0 || !knowledge.isComplete) return;
    const api = await init.api();
    if (api === undefined) return;
    for (const [uid, noted] of this.#leaving) {
      const block = knowledge.blocks.find((each) => each.uid === uid);
      // A power loss may bring back a note that was removed, after the node had gone on with the block.
      if (block !== undefined && !this.#isEmpty(block)) continue;
      // A file may have lost its content by a power loss. The name is then in the list of the node's blocks.
      const name = noted === "" ? block?.name : noted;
      const removed = name === undefined ? "gone" : await api.remove(name, uid);
      if (removed !== "gone") {
        init.warn(`pools: AddressBlock ${name} is not given back yet: ${removed.why}`);
        continue;
      }
      knowledge.gone(uid);
      this.#leaving.delete(uid);
      this.#emptySince.delete(uid);
      init.directory.noteGone(uid);
    }
  }

  #isEmpty({ pool, span }: AddressBlock): boolean {
    return this.#blocks.init.directory.leasesIn(pool, [span])[0] === 0;
  }

  /** Whether the node would soon claim a block again: it has leases of the pool, and without this block so few free addresses that it claims ahead. */
  #isNeeded(block: AddressBlock): boolean {
    const pool = this.#blocks.knownPool(block.pool);
    if (pool === undefined) return false;
    const others = this.#blocks.blocks.filter(
      ({ uid, pool: name, span }) =>
        uid !== block.uid && name === block.pool && span.family === block.span.family && !this.#leaving.has(uid),
    );
    const used = this.#blocks.init.directory.leasesIn(
      block.pool,
      others.map(({ span }) => span),
    );
    const usedSum = used.reduce((sum, each) => sum + each, 0);
    const size = others.reduce((sum, { span }) => sum + Number(sizeOf(assignableSpans(pool, span))), 0);
    return usedSum > 0 && size - usedSum < pool.blockSize / 4;
  }
}
