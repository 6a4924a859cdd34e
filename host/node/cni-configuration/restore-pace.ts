// When plexusd writes its configuration again after another program removed or changed it. The first time is at once; a program that insists, such as a
// network plugin that wants to be the only one, meets ever longer pauses instead of a loop.

/** Pauses before the second, third and each further restoration, in ms. */
const pausesMs = [0, 60_000, 600_000] as const;
/** After this time without a change the pace begins anew, in ms. */
const quietMs = 1_800_000;

/** The pace of one file. */
export class RestorePace {
  #changes = 0;
  #lastAt = -Infinity;

  /** Another program has removed or changed the file. `nowMs` is the time of a monotonic clock. */
  changed(nowMs: number): void {
    if (nowMs - this.#lastAt > quietMs) this.#changes = 0;
    this.#changes += 1;
    this.#lastAt = nowMs;
  }

  /** Milliseconds until the file may be written; 0: now. */
  pauseMs(nowMs: number): number {
    const pause = pausesMs[Math.min(this.#changes - 1, pausesMs.length - 1)] ?? 0;
    return Math.max(0, this.#lastAt + pause - nowMs);
  }
}
