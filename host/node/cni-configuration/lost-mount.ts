// Notices that the node has removed a directory that is mounted here. The mount keeps the removed directory, so its successor is never seen.

import { statSync } from "node:fs";

/** The directories of one daemon. */
export class LostMount {
  /** Directories that had a name, so that a file system without link counts is not taken for a loss. */
  readonly #linked = new Set<string>();
  readonly #directories: readonly string[];

  constructor(directories: readonly string[]) {
    this.#directories = directories;
  }

  /** The first directory that was removed on the node; undefined: none was. */
  find(): string | undefined {
    return this.#directories.find((directory) => {
      const links = linksOf(directory);
      if (links !== undefined && links > 0) this.#linked.add(directory);
      return links === 0 && this.#linked.has(directory);
    });
  }
}

function linksOf(directory: string): number | undefined {
  try {
    return statSync(directory, { throwIfNoEntry: false })?.nlink;
  } catch {
    return undefined;
  }
}
