// The time of an ADD, divided among the steps of its chains. The reserve for undoing is never given to a step. Each planned step keeps a
// minimum share, which the steps before it cannot use up. Time that a step does not use goes to the steps after it.

/** The reserve for undoing: a share of the call's time, with an upper bound in milliseconds. */
const maxReserveMs = 60_000;
const reserveShare = 1 / 2;

/** The part of its even share that each later step keeps, however slow the steps before it are. */
const keptShare = 1 / 2;

/** Milliseconds of a call's time that are reserved for undoing. `totalMs`: the call's whole time. */
export function undoReserveMs(totalMs: number): number {
  return Math.min(maxReserveMs, totalMs * reserveShare);
}

/** Milliseconds that each of `steps` planned steps keeps. `availableMs`: the time until the reserve begins. */
export function keptMs(availableMs: number, steps: number): number {
  return steps === 0 ? 0 : (availableMs * keptShare) / steps;
}

/** The state of a call's time before a step. */
export interface StepTime {
  /** Milliseconds to the call's end. */
  readonly leftMs: number;
  readonly reserveMs: number;
  /** Milliseconds that each later step keeps. */
  readonly keptMs: number;
  /** Number of planned steps after this one. */
  readonly stepsAfter: number;
}

/** Maximum milliseconds of the next step. */
export function stepBudgetMs({ leftMs, reserveMs, keptMs: kept, stepsAfter }: StepTime): number {
  return Math.max(0, leftMs - reserveMs - kept * stepsAfter);
}
