// The clock by which the pools' part waits.

/** A monotonic clock, and a bound for pauses: a clock that is not the process' own may pass a wait sooner than a timer. */
export interface PartClock {
  /** Milliseconds. */
  readonly now: () => number;
  /** Maximum pause between looks at an object that waits, in ms. */
  readonly maxPauseMs: number;
}

/** The process' own clock, to which timers keep. */
export const processClock: PartClock = { now: () => performance.now(), maxPauseMs: Infinity };
