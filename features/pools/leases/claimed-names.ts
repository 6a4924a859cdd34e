// The names of the blocks that this node's daemons have claimed, or may have claimed. A daemon that starts reads its blocks by these names: for a list of one
// node's blocks the API server looks at the blocks of all nodes.

import type { PoolDirectory } from "./pool-directory.ts";

/** Maximum blocks that are read by their names. A node with more lists them: the requests would cost more than the list. */
const maxNames = 64;

/** The names. They are kept in a file without fsync: after a power loss the file may lack the latest names, and a later list finds those blocks. */
export class ClaimedNames {
  readonly #directory: PoolDirectory;
  /** Undefined: nothing is known, so that a list is needed. */
  #names: ReadonlySet<string> | undefined;
  /** Claims without an answer yet. */
  readonly #underWay = new Set<string>();

  constructor(directory: PoolDirectory) {
    this.#directory = directory;
    const names = directory.claimedNames();
    this.#names = names && new Set(names);
  }

  /** Whether no block was claimed by this directory so far. */
  get isNone(): boolean {
    return this.#names?.size === 0;
  }

  /** The names to read; undefined if the node's blocks have to be listed. Claims under way are left out: no answer may say that they are absent. */
  get toRead(): readonly string[] | undefined {
    const names = this.#names && [...this.#names].filter((name) => !this.#underWay.has(name));
    return names === undefined || names.length > maxNames ? undefined : names;
  }

  /** Before a claim is sent: its answer may be lost. */
  begin(name: string): void {
    this.#underWay.add(name);
    this.add(name);
  }

  /** After the answer of a claim, or without one. `isForeign`: another node has the block. */
  end(name: string, isForeign: boolean): void {
    this.#underWay.delete(name);
    if (isForeign && this.#names !== undefined) this.#keep([...this.#names].filter((each) => each !== name));
  }

  add(name: string): void {
    if (this.#names?.has(name) === false) this.#keep([...this.#names, name]);
  }

  /** The names after a look at all blocks. */
  replace(names: readonly string[]): void {
    this.#keep([...new Set([...names, ...this.#underWay])]);
  }

  #keep(names: readonly string[]): void {
    const isSame = this.#names?.size === names.length && names.every((name) => this.#names?.has(name));
    this.#names = new Set(names);
    // A directory that cannot be written has the names of an earlier time: a later list finds the others.
    if (!isSame) this.#directory.keepClaimedNames(names);
  }
}
