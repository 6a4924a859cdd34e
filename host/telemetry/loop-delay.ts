// Measures the delay of the event loop while calls are served. A timer measures it, and runs only then, because it wakes the process each
// time. Node can also measure once per turn of the loop, without a timer (monitorEventLoopDelay with samplePerIteration). But that misses
// the time in sockets' callbacks, which is nearly all of the daemon's work.

import { createHistogram, type RecordableHistogram } from "node:perf_hooks";

/** Interval between two measurements, in ms. */
const intervalMs = 10;

/** Quantiles of the delay, in seconds. */
export interface LoopDelays {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** The delay of this process' event loop. */
export class LoopDelay {
  readonly #isBusy: () => boolean;
  readonly #quietMs: number;
  readonly #now: () => number;
  /** Delays in nanoseconds, at least 1. */
  readonly #delays: RecordableHistogram = createHistogram();
  #timer: NodeJS.Timeout | undefined;
  #lookedAt = 0;
  #calledAt = 0;

  /**
   * `isBusy`: whether calls are being served. `now`: milliseconds of a monotonic clock. `quietMs`: milliseconds without a new call after
   * which the measurement stops.
   */
  constructor(isBusy: () => boolean, now: () => number, quietMs = 1_000) {
    this.#isBusy = isBusy;
    this.#quietMs = quietMs;
    this.#now = now;
  }

  /** Call this for each new call: it starts the measurement, which stops by itself. */
  watch(): void {
    this.#calledAt = this.#now();
    if (this.#timer !== undefined) return;
    this.#lookedAt = this.#calledAt;
    this.#timer = setInterval(() => this.#look(), intervalMs).unref();
  }

  /** The delays since the previous take; 0 if there was no call. */
  take(): LoopDelays {
    const delays = this.#delays;
    const quantiles =
      delays.count === 0
        ? { p50: 0, p99: 0, max: 0 }
        : { p50: delays.percentile(50) / 1e9, p99: delays.percentile(99) / 1e9, max: delays.max / 1e9 };
    delays.reset();
    return quantiles;
  }

  #look(): void {
    const now = this.#now();
    const delayMs = now - this.#lookedAt - intervalMs;
    this.#lookedAt = now;
    this.#delays.record(Math.max(1, Math.round(delayMs * 1e6)));
    if (now - this.#calledAt < this.#quietMs || this.#isBusy()) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
