// The deadline of a call, and the part of its time that is reserved for undoing. A runtime that gives up first gets no error and
// undoes nothing. Plexus therefore ends the call earlier, with time left to undo.

import type { Verb } from "../../../src/cni/environment.ts";
import { keptMs, stepBudgetMs, undoReserveMs } from "../../../src/step-policy/step-budget.ts";

/** The share of an ADD's time that a DEL or CHECK has: the kubelet waits half as long for a sandbox to stop as for one to start. */
const delCheckShare = 1 / 2;

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
