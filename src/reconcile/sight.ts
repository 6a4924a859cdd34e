// Decides whether an agent can see the runtime's network namespaces. An agent that sees another directory than the runtime's (a
// container without that mount) finds every namespace gone. So "gone" counts only after the agent has seen that namespace
// earlier, or another one of the runtime in the same directory, be it that of a call that is served. An agent without the runtime's mounts still sees its files, which
// are not namespaces but not gone either.

import type { Seen } from "./judge-entry.ts";

/** One network namespace in one look. */
export interface Look {
  /** Identifies the ADD and its container: a repeated ADD has another id. */
  readonly id: string;
  /** Path of the network namespace. */
  readonly path: string;
  readonly seen: Seen;
}

/** The known facts about one network namespace. */
export interface Known {
  readonly sighted: boolean;
  /** Time for which every look has found the namespace gone, in milliseconds. */
  readonly goneMs: number;
}

/** The view of one agent connection. Other connections' views do not count. */
export class Sight {
  /** Since when each missing namespace has been gone at every look. */
  readonly #goneSince = new Map<string, number>();
  /** Directories in which this agent has seen a network namespace that the runtime named. */
  readonly #directories = new Set<string>();

  /**
   * Records one round over all entries; `nowMs` of a monotonic clock. `served`: directories in which the agent has seen the namespace of a served call.
   * Answers the known facts of each look, in the same order.
   */
  look(looks: readonly Look[], nowMs: number, served: ReadonlySet<string> = new Set()): readonly Known[] {
    for (const directory of served) this.#directories.add(directory);
    const gone = new Set(looks.flatMap(({ id, seen }) => (seen === "gone" ? [id] : [])));
    for (const id of this.#goneSince.keys()) if (!gone.has(id)) this.#goneSince.delete(id);
    for (const id of gone) if (!this.#goneSince.has(id)) this.#goneSince.set(id, nowMs);
    for (const { path, seen } of looks) if (seen === "there") this.#directories.add(directoryOf(path));
    return looks.map(({ id, path }) => ({
      sighted: this.#directories.has(directoryOf(path)),
      goneMs: nowMs - (this.#goneSince.get(id) ?? nowMs),
    }));
  }
}

/** The directory of a path, with the slash at its end. */
export function directoryOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/") + 1);
}
