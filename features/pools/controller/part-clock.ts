// The clock of the controller's part for pools. Tests set it forward instead of waiting.

/** A monotonic clock, and the longest timer that the part may set. Timers follow the process' clock, so a test's clock needs short ones. */
export interface PartClock {
  /** Milliseconds. */
  readonly now: () => number;
  /** Maximum milliseconds until a waiting object is examined again. */
  readonly maxPauseMs: number;
}
