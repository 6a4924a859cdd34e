// How long a call may take in all, and how much of it is kept for undoing: a runtime that gives up hears nothing of what was begun, so
// Plexus gives up before it does, and in time to undo.

import type { Verb } from "../../src/cni/environment.ts";

/** Most milliseconds that are kept for undoing, and the share of a call's time that is kept where that is less. */
const longestReserveMs = 60_000;
const reserveShare = 1 / 2;

/** The kubelet waits for a sandbox to stop half as long as for one to start. */
const shareOfOthers = 1 / 2;

export interface CallDeadlineInit {
  readonly verb: Verb;
  /** Milliseconds that an ADD may take. */
  readonly callTimeoutMs: number;
  /** Milliseconds that have gone by already: the call waited for its turn. */
  readonly waitedMs: number;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
}

/** Of one call. STATUS and GC have bounds of their own, and none here. */
export class CallDeadline {
  /** Milliseconds that the call may take; Infinity: it is not bounded here. */
  readonly totalMs: number;
  readonly #init: CallDeadlineInit;
  readonly #due: number;
  #undoing: boolean;

  constructor(init: CallDeadlineInit) {
    const { verb, callTimeoutMs, waitedMs, now } = init;
    this.#init = init;
    this.totalMs = verb === "ADD" ? callTimeoutMs : verb === "DEL" || verb === "CHECK" ? callTimeoutMs * shareOfOthers : Infinity;
    this.#due = now() - waitedMs + this.totalMs;
    this.#undoing = verb === "DEL";
  }

  /** Milliseconds to the call's end. */
  get leftMs(): number {
    return Math.max(0, this.#due - this.#init.now());
  }

  /**
   * Milliseconds that the next step or wait may take. Before an ADD's undoing the reserve is left. A step that undoes gets half of
   * what is left, so that one which hangs leaves time for those after it.
   */
  get stepMs(): number {
    const left = this.leftMs;
    if (this.#undoing) return left / 2;
    return this.#init.verb === "ADD" ? Math.max(0, left - this.#reserveMs) : left;
  }

  /** From now on all that is left may be used. */
  undo(): void {
    this.#undoing = true;
  }

  get #reserveMs(): number {
    return Math.min(longestReserveMs, this.totalMs * reserveShare);
  }
}
