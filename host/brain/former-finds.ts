// What the types of earlier calls were found to be: a guess for the next call, which the hands check before they act on it.

import type { Found } from "../hands/messages.ts";

/** A node has one CNI_PATH or two with a few dozen plugins; where there are more, all are looked for anew once. */
const mostPaths = 16;
const mostTypes = 1024;

export class FormerFinds {
  readonly #paths = new Map<string, FoundTypes>();

  /** What was found on this CNI_PATH. */
  on(path: string): FoundTypes {
    const known = this.#paths.get(path);
    if (known !== undefined) return known;
    if (this.#paths.size >= mostPaths) this.#paths.clear();
    const types = new FoundTypes();
    this.#paths.set(path, types);
    return types;
  }
}

export class FoundTypes {
  readonly #found = new Map<string, Found>();

  of(type: string): Found | undefined {
    return this.#found.get(type);
  }

  /** Keeps what FIND gave where native binaries come first. */
  keep(type: string, found: Found): void {
    if (found.what === "nothing") {
      this.#found.delete(type);
      return;
    }
    if (this.#found.size >= mostTypes && !this.#found.has(type)) this.#found.clear();
    this.#found.set(type, found);
  }

  forget(type: string): void {
    this.#found.delete(type);
  }
}
