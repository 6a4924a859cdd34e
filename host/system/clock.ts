// The clocks of a process. A function that needs the time is handed a clock, so that a test can move it.

/** Two clocks: durations are measured by `now`, records and logs name `date`. */
export interface Clock {
  /** Milliseconds of a clock that never goes back (CLOCK_MONOTONIC). */
  readonly now: () => number;
  /** The time of day. */
  readonly date: () => Date;
}

/**
 * Milliseconds of the kernel's monotonic clock, with fractions; only differences mean something. `performance.now()` has the same
 * clock, but its first call loads 9 built-in modules (0.7 ms of CPU). A one-shot engine has no other use for them.
 */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}

/** The kernel's clocks. */
export const systemClock: Clock = { now: monotonicMs, date: () => new Date() };
