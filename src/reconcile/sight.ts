// What resident hands are known to see. Hands that look at another directory than the runtime's (a container without that mount)
// find every namespace gone. So what they miss says something only once it is known what they see: that very namespace earlier, or
// one in the same directory whose ADD came after they did.

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

interface Entry {
  /** Whether its ADD came after the hands' first look. */
  readonly isNew: boolean;
  witnessed: boolean;
  goneSinceMs: number | undefined;
}

/** Of one connection of resident hands; what others saw counts for nothing. */
export class Sight {
  readonly #entries = new Map<string, Entry>();
  /** Directories in which a namespace was seen that was attached after the hands came. */
  readonly #directories = new Set<string>();
  #isFirst = true;

  /** Takes note of one look at all entries, `nowMs` of a clock that never goes back. Answers what is known of each, in their order. */
  look(looks: readonly Look[], nowMs: number): readonly Known[] {
    const present = new Set(looks.map(({ id }) => id));
    for (const id of this.#entries.keys()) if (!present.has(id)) this.#entries.delete(id);
    for (const each of looks) this.#note(each, nowMs);
    this.#isFirst = false;
    return looks.map(({ id, path }) => this.#knownOf(id, path, nowMs));
  }

  #note({ id, path, seen }: Look, nowMs: number): void {
    const entry = this.#entries.get(id) ?? { isNew: !this.#isFirst, witnessed: false, goneSinceMs: undefined };
    this.#entries.set(id, entry);
    entry.goneSinceMs = seen === "gone" ? (entry.goneSinceMs ?? nowMs) : undefined;
    if (seen !== "there") return;
    entry.witnessed = true;
    if (entry.isNew) this.#directories.add(directoryOf(path));
  }

  #knownOf(id: string, path: string, nowMs: number): Known {
    const entry = this.#entries.get(id);
    const sighted = entry?.witnessed === true || this.#directories.has(directoryOf(path));
    return { sighted, goneMs: entry?.goneSinceMs === undefined ? 0 : nowMs - entry.goneSinceMs };
  }
}

function directoryOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/") + 1);
}
