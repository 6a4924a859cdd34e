// Blocks that carry this node's name or this directory's identity, but not both. None is used, and the log names each of them once: a node that was installed
// anew leaves the first kind, a copied state directory or a renamed node the second.

import type { AddressBlock } from "../rules/address-block.ts";

/** Maximum blocks that are named. */
const maxNamed = 64;

/** The warnings of one daemon. */
export class StrangeBlocks {
  readonly #own: { readonly node: string | undefined; readonly holder: string };
  readonly #warn: (text: string) => void;
  /** UIDs of the blocks that were named. */
  readonly #named = new Set<string>();

  constructor(own: { readonly node: string | undefined; readonly holder: string }, warn: (text: string) => void) {
    this.#own = own;
    this.#warn = warn;
  }

  /** Warns of each new one among the blocks. */
  note(blocks: readonly AddressBlock[]): void {
    for (const block of blocks) {
      const text = this.#textOf(block);
      if (text === undefined || this.#named.has(block.uid) || this.#named.size >= maxNamed) continue;
      this.#named.add(block.uid);
      this.#warn(`pools: ${text}`);
    }
  }

  #textOf({ name, node, holder }: AddressBlock): string | undefined {
    const own = this.#own;
    if ((node === own.node) === (holder === own.holder)) return undefined;
    // As long as the Node object exists, no program frees such a block.
    if (node === own.node)
      return `AddressBlock ${name} of this node belongs to another state directory and is not used. If that directory is lost: kubectl delete addressblock ${name}`;
    return (
      `AddressBlock ${name} of node ${node} has the identity of this node's state directory and is not used: the directory is a copy, or the node was renamed. ` +
      `plexus-controller frees the block when node ${node} is gone`
    );
  }
}
