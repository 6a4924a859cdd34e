// The pace at which changes of one namespace cause work: a tenant that changes its objects many times a second must not make a write or a table of each change.

/** Settings of a pace. */
export interface PaceInit {
  /** Answers ms of a clock that never goes back. */
  readonly now: () => number;
  /** Batches of a namespace without a pause. */
  readonly burst: number;
  /** Ms in which a namespace gets one more batch. */
  readonly intervalMs: number;
}

/** The pace that controller and daemons have: 20 batches at once, and 5 a second. */
export const usualPace = { burst: 20, intervalMs: 200 } as const;

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
  readonly #init: PaceInit;
  readonly #paces = new Map<string, Pace>();

  constructor(init: PaceInit) {
    this.#init = init;
  }

  /** Namespaces that are known. */
  get size(): number {
    return this.#paces.size;
  }

  /** The pause in ms after which the work for a change of the namespace is due. Changes before that time belong to the same batch. `afterMs`: the pause of a new batch. */
  pauseMs(namespace: string, afterMs: number): number {
    const { now: clock, burst, intervalMs } = this.#init;
    const now = clock();
    const pace = this.#paces.get(namespace);
    if (pace !== undefined && pace.batchAt >= now) return pace.batchAt - now;
    const least = now + afterMs;
    const left = pace === undefined ? burst : Math.min(burst, pace.left + (least - pace.batchAt) / intervalMs);
    const batchAt = left >= 1 ? least : least + Math.round((1 - left) * intervalMs);
    this.#paces.set(namespace, { batchAt, left: Math.max(left, 1) - 1 });
    if (this.#paces.size > maxKnown) this.#forget(now);
    return batchAt - now;
  }

  /** Forgets the namespaces that have all of their batches again. */
  #forget(now: number): void {
    const { burst, intervalMs } = this.#init;
    for (const [namespace, { batchAt }] of this.#paces) if (now - batchAt > burst * intervalMs) this.#paces.delete(namespace);
  }
}
