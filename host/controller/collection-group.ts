// The collections of one part of the controller, watched together.

import { setTimeout } from "node:timers/promises";
import type { ReflectorState } from "../cluster/kube/reflector.ts";
import type { WatchedCollection } from "./watched-collection.ts";

/** A collection of the group. */
type Watched = Pick<WatchedCollection<unknown>, "state" | "listed" | "complete" | "start">;

/** Interval in ms at which the first lists are awaited. */
const pollMs = 100;

/** The collections of one part. */
export class CollectionGroup {
  readonly #complete: readonly Watched[];
  readonly #listed: readonly Watched[];

  /**
   * `complete`: collections of which every object must be stored, because something is destroyed for an object's absence. `listed`: collections that
   * a tenant can fill; an object that is too large counts as absent.
   */
  constructor({ complete = [], listed = [] }: { readonly complete?: readonly Watched[]; readonly listed?: readonly Watched[] }) {
    this.#complete = complete;
    this.#listed = listed;
  }

  get states(): readonly ReflectorState[] {
    return [...this.#complete, ...this.#listed].map(({ state }) => state);
  }

  /** Whether a missing object is really missing. It ends when a complete collection gets an object that is too large. */
  get isReady(): boolean {
    return this.#complete.every(({ complete }) => complete) && this.#listed.every(({ listed }) => listed);
  }

  /** Begins to watch until `signal` is aborted; resolves when the group is ready, or at the abort. */
  async begin(signal: AbortSignal): Promise<void> {
    for (const each of [...this.#complete, ...this.#listed]) each.start(signal);
    while (!this.isReady && !signal.aborted) await setTimeout(pollMs);
  }
}
