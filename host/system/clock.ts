// The clocks of a process. A function that needs the time is handed a clock, so that a test can move it.

import { monotonicMs } from "./monotonic-ms.ts";

/** Two clocks: durations are measured by `now`, records and logs name `date`. */
export interface Clock {
  /** Milliseconds of a clock that never goes back (CLOCK_MONOTONIC). */
  readonly now: () => number;
  /** The time of day. */
  readonly date: () => Date;
}

/** The kernel's clocks. */
export const systemClock: Clock = { now: monotonicMs, date: () => new Date() };
