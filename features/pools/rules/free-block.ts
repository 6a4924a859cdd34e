// When the controller frees a block whose node is gone. Two phases keep an address from two owners: the controller marks the block, and deletes it
// only after every daemon's knowledge of the unmarked block has expired (block-knowledge.ts). No two machines' clocks are compared.

import type { AddressBlock } from "./address-block.ts";

/** The controller's knowledge about a block's node. */
export interface BlockFacts {
  readonly block: Pick<AddressBlock, "isOrphaned" | "freeAfterSeconds">;
  /** Whether a Node object of the block's node exists. */
  readonly nodeExists: boolean;
  /** The number of pods that are bound to the node. */
  readonly podsBound: number;
  /**
   * Milliseconds on the controller's own monotonic clock since it first saw the block marked with its present resourceVersion; undefined: not
   * seen before. A changed version begins anew, because the mark may have been absent in between, and so does a new leader.
   */
  readonly markedForMs: number | undefined;
}

/**
 * The controller's next step for a block. `mark` and `unmark`: write the status. `delete`: only with the block's uid and the resourceVersion of a read
 * that showed the mark and was made after the last look at node and pods, so that a concurrent `unmark` makes the deletion fail.
 */
export type FreeStep = "keep" | "mark" | "unmark" | "wait" | "delete";

/** Decides the next step. */
export function nextFreeStep({ block, nodeExists, podsBound, markedForMs }: BlockFacts): FreeStep {
  const isGone = !nodeExists && podsBound === 0;
  if (!isGone) return block.isOrphaned ? "unmark" : "keep";
  if (!block.isOrphaned) return "mark";
  return markedForMs !== undefined && markedForMs >= block.freeAfterSeconds * 1000 ? "delete" : "wait";
}
