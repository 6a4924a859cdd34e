// The pauses between tries to attach a lost link again.

/** The tries so far. */
export interface RepairTries {
  readonly count: number;
  /** The end of the last try, in ms of a clock that never goes back. */
  readonly lastAt: number;
}

const firstPauseMs = 1000;
const maxPauseMs = 300_000;
/** A link that has held for this long has no tries. */
const quietMs = 600_000;

/** The pause before the next try, in ms: none, then 1 s, doubled each time, at most 5 minutes. A link that is lost again right after a repair waits, too. */
export function repairPauseMs(tries: RepairTries | undefined, nowMs: number): number {
  if (tries === undefined || nowMs - tries.lastAt >= quietMs) return 0;
  const pauseMs = Math.min(maxPauseMs, firstPauseMs * 2 ** Math.min(tries.count - 1, 20));
  return Math.max(0, tries.lastAt + pauseMs - nowMs);
}

/** The tries after another one. */
export function withTry(tries: RepairTries | undefined, nowMs: number): RepairTries {
  const isForgotten = tries === undefined || nowMs - tries.lastAt >= quietMs;
  return { count: isForgotten ? 1 : tries.count + 1, lastAt: nowMs };
}
