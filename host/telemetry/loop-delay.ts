// How late the event loop is while calls are served. A timer tells it, which wakes the process each time; so it runs only then. Node can
// look once per turn of the loop instead (monitorEventLoopDelay's samplePerIteration), without a timer; but between two waits for events
// it sees timers and immediates only, and nothing of what sockets' callbacks take, which is nearly all that the daemon does.

import { createHistogram, type RecordableHistogram } from "node:perf_hooks";

/** Milliseconds between two looks at the event loop. */
const resolutionMs = 10;

export interface LoopDelayInit {
  /** Whether calls are being served. */
  readonly isBusy: () => boolean;
  /** Milliseconds without a new call after which nothing is looked at any more. */
  readonly quietMs?: number;
}

/** Seconds. */
export interface LoopDelays {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export class LoopDelay {
  readonly #isBusy: () => boolean;
  readonly #quietMs: number;
  /** Nanoseconds, of at least 1. */
  readonly #late: RecordableHistogram = createHistogram();
  #timer: NodeJS.Timeout | undefined;
  #lookedAt = 0;
  #calledAt = 0;

  constructor({ isBusy, quietMs = 1_000 }: LoopDelayInit) {
    this.#isBusy = isBusy;
    this.#quietMs = quietMs;
  }

  /** A call has come: the loop is looked at from now on, until it is quiet. */
  watch(): void {
    this.#calledAt = performance.now();
    if (this.#timer !== undefined) return;
    this.#lookedAt = this.#calledAt;
    this.#timer = setInterval(() => this.#look(), resolutionMs).unref();
  }

  /** What was seen since this was last asked; 0 where there was no call. */
  take(): LoopDelays {
    const late = this.#late;
    const told =
      late.count === 0
        ? { p50: 0, p99: 0, max: 0 }
        : { p50: late.percentile(50) / 1e9, p99: late.percentile(99) / 1e9, max: late.max / 1e9 };
    late.reset();
    return told;
  }

  #look(): void {
    const now = performance.now();
    const lateMs = now - this.#lookedAt - resolutionMs;
    this.#lookedAt = now;
    this.#late.record(Math.max(1, Math.round(lateMs * 1e6)));
    if (now - this.#calledAt < this.#quietMs || this.#isBusy()) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
