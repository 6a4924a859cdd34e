// The time of a call, and its division. A runtime that gives up first gets no error and undoes nothing. Plexus therefore ends the call earlier, with time left to undo.
//
// The reserve for undoing is never given to a step of an ADD. Each planned step keeps a minimum share, which the steps before it cannot use up. Time that a step does not
// use goes to the steps after it.

import type { Verb } from "../cni/environment.ts";

/** The share of an ADD's time that a DEL or CHECK has: the kubelet waits half as long for a sandbox to stop as for one to start. */
const delCheckShare = 1 / 2;

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

/** The deadline of one ADD, DEL or CHECK. STATUS and GC have no deadline: each of their steps has a bound of its own. */
export class CallDeadline {
  /** Milliseconds that the call may take; Infinity for no bound. */
  readonly totalMs: number;
  readonly #verb: Verb;
  /** A monotonic clock, in milliseconds. */
  readonly #now: () => number;
  readonly #due: number;
  #undoing: boolean;
  /** Planned steps of an ADD that have not begun, and the milliseconds that each of them keeps. */
  #stepsAfter = 0;
  #keptMs = 0;

  /** `callTimeoutMs`: milliseconds that an ADD may take. `waitedMs`: milliseconds that the call waited in the queue. */
  constructor(verb: Verb, callTimeoutMs: number, waitedMs: number, now: () => number) {
    this.#verb = verb;
    this.#now = now;
    this.totalMs = verb === "ADD" ? callTimeoutMs : verb === "DEL" || verb === "CHECK" ? callTimeoutMs * delCheckShare : Infinity;
    this.#due = now() - waitedMs + this.totalMs;
    this.#undoing = verb === "DEL";
  }

  /** Milliseconds to the call's end. */
  get leftMs(): number {
    return Math.max(0, this.#due - this.#now());
  }

  /**
   * Milliseconds that the current step or the next wait may take. The steps of an ADD leave the reserve untouched, and the shares of the
   * steps after them. A step that undoes gets half of the remaining time, so that a plugin that hangs leaves time for the steps after it.
   */
  get stepMs(): number {
    const left = this.leftMs;
    if (this.#undoing) return left / 2;
    if (this.#verb !== "ADD") return left;
    const reserveMs = undoReserveMs(this.totalMs);
    return stepBudgetMs({ leftMs: left, reserveMs, keptMs: this.#keptMs, stepsAfter: this.#stepsAfter });
  }

  /** Divides the time of an ADD that is left among its planned steps. */
  planSteps(steps: number): void {
    this.#stepsAfter = 0;
    this.#keptMs = keptMs(this.stepMs, steps);
    this.#stepsAfter = steps;
  }

  /** Begins the next planned step: `stepMs` is its time from now on, also for its further tries. */
  beginStep(): void {
    if (this.#stepsAfter > 0) this.#stepsAfter -= 1;
  }

  /** Releases the reserve: from now on all of the remaining time may be used. */
  undo(): void {
    this.#undoing = true;
  }
}
