// Decides whether the event loop may wait for the file system, or must leave the operation to libuv's threads.

import { monotonicMs } from "../../system/clock.ts";

const pauseMs = 10_000;

/** Counts slow operations. After `maxSlow` slow ones in a row, operations may not block the event loop for 10 s. */
export class BlockingBudget {
  readonly #maxMs: number;
  readonly #maxSlow: number;
  #slow = 0;
  #pausedUntil = 0;

  /** `maxMs`: a longer operation is slow; 0: no operation may block the event loop. */
  constructor(maxMs: number, maxSlow: number) {
    this.#maxMs = maxMs;
    this.#maxSlow = maxSlow;
  }

  get mayBlock(): boolean {
    return this.#maxMs > 0 && monotonicMs() >= this.#pausedUntil;
  }

  /** Runs a blocking operation and counts it if it was slow. */
  measure<T>(operation: () => T): T {
    const started = monotonicMs();
    try {
      return operation();
    } finally {
      const now = monotonicMs();
      this.#slow = now - started > this.#maxMs ? this.#slow + 1 : 0;
      if (this.#slow >= this.#maxSlow) this.#pausedUntil = now + pauseMs;
    }
  }
}
