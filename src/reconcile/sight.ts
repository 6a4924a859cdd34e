// What resident hands are known to see. Hands that look at another directory than the runtime's (a container without that mount)
// find every namespace gone. So what they miss says something only once it is known what they see: that very namespace earlier, or
// another one of the runtime's in the same directory. Hands to whom the runtime's mounts don't come still see its files: what they find
// there is no namespace, but not gone either.

import type { Seen } from "./judge-entry.ts";

/** One namespace in one look. */
export interface Look {
  /** Which ADD of which container: a new ADD is another one. */
  readonly id: string;
  /** Its path. */
  readonly path: string;
  readonly seen: Seen;
}

/** What is known of one namespace. */
export interface Known {
  readonly sighted: boolean;
  /** For how long every look found it gone, in ms. */
  readonly goneMs: number;
}

/** Of one connection of resident hands; what others saw counts for nothing. */
export class Sight {
  /** Since when a namespace that was gone at every look is. */
  readonly #goneSinceMs = new Map<string, number>();
  /** Directories in which they have seen a namespace that the runtime named. */
  readonly #directories = new Set<string>();

  /** Takes note of one look at all entries, `nowMs` of a clock that never goes back. Answers what is known of each, in their order. */
  look(looks: readonly Look[], nowMs: number): readonly Known[] {
    const gone = new Set(looks.flatMap(({ id, seen }) => (seen === "gone" ? [id] : [])));
    for (const id of this.#goneSinceMs.keys()) if (!gone.has(id)) this.#goneSinceMs.delete(id);
    for (const id of gone) if (!this.#goneSinceMs.has(id)) this.#goneSinceMs.set(id, nowMs);
    for (const { path, seen } of looks) if (seen === "there") this.#directories.add(directoryOf(path));
    return looks.map(({ id, path }) => ({
      sighted: this.#directories.has(directoryOf(path)),
      goneMs: nowMs - (this.#goneSinceMs.get(id) ?? nowMs),
    }));
  }
}

function directoryOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/") + 1);
}
