// The pace at which changes of one namespace cause work: a tenant that changes its objects many times a second must not make a write or a table of each change.

interface Pace {
  /** The time of the last batch, which may be to come. */
  batchAt: number;
  /** Batches that are left, at `batchAt`. */
  left: number;
}

/** Number of known namespaces above which namespaces without a recent batch are forgotten. */
const maxKnown = 1000;

/** Gives each change a place in a batch of its namespace. */
export class ChangePace {
  /** Answers ms of a clock that never goes back. */
  readonly #now: () => number;
  /** Batches of a namespace without a pause. */
  readonly #burst: number;
  /** Ms in which a namespace gets one more batch. */
  readonly #intervalMs: number;
  readonly #paces = new Map<string, Pace>();

  /** The default is the pace of controller and daemons: 20 batches at once, and 5 a second. */
  constructor(now: () => number, burst = 20, intervalMs = 200) {
    this.#now = now;
    this.#burst = burst;
    this.#intervalMs = intervalMs;
  }

  /** Namespaces that are known. */
  get size(): number {
    return this.#paces.size;
  }

  /** The pause in ms after which the work for a change of the namespace is due. Changes before that time belong to the same batch. `afterMs`: the pause of a new batch. */
  pauseMs(namespace: string, afterMs: number): number {
    const now = this.#now();
    const pace = this.#paces.get(namespace);
    if (pace !== undefined && pace.batchAt >= now) return pace.batchAt - now;
    const least = now + afterMs;
    const left = pace === undefined ? this.#burst : Math.min(this.#burst, pace.left + (least - pace.batchAt) / this.#intervalMs);
    const batchAt = left >= 1 ? least : least + Math.round((1 - left) * this.#intervalMs);
    this.#paces.set(namespace, { batchAt, left: Math.max(left, 1) - 1 });
    if (this.#paces.size > maxKnown) this.#forget(now);
    return batchAt - now;
  }

  /** Forgets the namespaces that have all of their batches again. */
  #forget(now: number): void {
    for (const [namespace, { batchAt }] of this.#paces)
      if (now - batchAt > this.#burst * this.#intervalMs) this.#paces.delete(namespace);
  }
}
