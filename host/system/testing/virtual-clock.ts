// For tests: clocks that the test moves.

import type { Clock } from "../clock.ts";

/** A clock that stands still until the test moves it. */
export class VirtualClock implements Clock {
  #ms = 0;
  /** By how many milliseconds the time of day was set. */
  setMs = 0;

  readonly now = (): number => this.#ms;

  readonly date = (): Date => new Date(Date.UTC(2026, 0, 1) + this.#ms + this.setMs);

  advance(ms: number): void {
    this.#ms += ms;
  }
}

/** The clock of vitest's fake timers while they fake `performance`, and else that of the process. */
export const fakeTimersClock: Clock = { now: () => performance.now(), date: () => new Date(performance.now()) };
