// The rounds in which the work for all pods is done anew. A round ends when the work for each of its pods has succeeded.

/** The rounds of one feature. */
export class FollowedRounds {
  readonly #now: () => number;
  readonly #onEnd: (failed: readonly string[]) => void;
  /** Pods of the round that the work has not succeeded for; undefined: no round has begun, or the last one has ended. */
  #left: Set<string> | undefined;
  #endedAt: number | undefined;

  /** `now` answers ms of a clock that never goes back. `onEnd` receives the pods that the work has failed for. */
  constructor(now: () => number, onEnd: (failed: readonly string[]) => void) {
    this.#now = now;
    this.#onEnd = onEnd;
  }

  /** Seconds since the last round ended; undefined: none has ended. */
  get ageSeconds(): number | undefined {
    return this.#endedAt === undefined ? undefined : (this.#now() - this.#endedAt) / 1000;
  }

  /** Begins a round; an earlier one that has not ended is given up: a pod that always fails must not keep the others' rounds from their end. */
  begin(pods: Iterable<string>): void {
    if (this.#left !== undefined) this.#onEnd([...this.#left]);
    this.#left = new Set(pods);
    this.#endIfDone();
  }

  /** Notes that the work for a pod has succeeded. */
  succeeded(pod: string): void {
    if (this.#left?.delete(pod) === true) this.#endIfDone();
  }

  #endIfDone(): void {
    if (this.#left?.size !== 0) return;
    this.#left = undefined;
    this.#endedAt = this.#now();
    this.#onEnd([]);
  }
}
