// What the types of earlier calls were found to be: a guess for the next call, which the hands check before they act on it.

import type { Found } from "../hands/messages.ts";

/** A node has a few dozen plugins; where there are more, all are looked for anew once. */
const most = 1024;

export class FormerFinds {
  readonly #found = new Map<string, Found>();

  /** `path`: the CNI_PATH that it was looked for on. */
  of(path: string, type: string): Found | undefined {
    return this.#found.get(keyOf(path, type));
  }

  /** Keeps what FIND gave where native binaries come first. */
  keep(path: string, type: string, found: Found): void {
    const key = keyOf(path, type);
    if (found.what === "nothing") {
      this.#found.delete(key);
      return;
    }
    if (this.#found.size >= most && !this.#found.has(key)) this.#found.clear();
    this.#found.set(key, found);
  }

  forget(path: string, type: string): void {
    this.#found.delete(keyOf(path, type));
  }
}

function keyOf(path: string, type: string): string {
  return `${path}\0${type}`;
}
