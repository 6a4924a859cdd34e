// The keys of objects that need work. A key is worked on by one worker at a time, waits once however often it is added, and is tried again with a
// growing pause after a failure.

import type { Clock } from "../../system/clock.ts";
import { pauseBefore } from "../../../src/kube/backoff.ts";

/**
 * The outcome of the work on a key. `again`: work is due again after some ms. `failed`: try again with a growing pause. `conflict`: the same, but
 * the reason is another writer, whose newer state the watch brings.
 */
export type WorkOutcome =
  | { readonly kind: "done" }
  | { readonly kind: "conflict"; readonly why: string }
  | { readonly kind: "again"; readonly afterMs: number }
  | { readonly kind: "failed"; readonly why: string; readonly pauseMs?: number | undefined };

/** Works on one after the other, until one is not done. */
export async function inTurn<T>(all: readonly T[], work: (each: T) => Promise<WorkOutcome>): Promise<WorkOutcome> {
  for (const each of all) {
    const outcome = await work(each);
    if (outcome.kind !== "done") return outcome;
  }
  return { kind: "done" };
}

/** Called after each work, for metrics and the log. */
export type OnWorked = (key: string, outcome: WorkOutcome, ms: number) => void;

/** Longest pause after failures in a row, in ms. */
const maxPauseMs = 30_000;

/** A queue of keys; it works from `start` to the abort of its signal. */
export class WorkQueue {
  /** The work on one key. A rejection counts as a failure. */
  readonly #work: (key: string) => Promise<WorkOutcome>;
  readonly #clock: Clock;
  /** Keys that are worked on at the same time. */
  readonly #workers: number;
  /** Called after each work, for metrics and the log. */
  readonly #onWorked: OnWorked | undefined;
  readonly #random: () => number;
  /** The lane of a key, such as its namespace. A lane never has more workers than it leaves free, but always gets one. Undefined: one for all keys. */
  readonly #laneOf: ((key: string) => string) | undefined;
  /** Keys that wait, in order. */
  readonly #waiting = new Set<string>();
  readonly #working = new Set<string>();
  /** Keys that were added while they were worked on. */
  readonly #again = new Set<string>();
  /** Keys that are due later, with the time on the monotonic clock in ms. */
  readonly #timers = new Map<string, { readonly timer: NodeJS.Timeout; readonly dueAt: number }>();
  readonly #failures = new Map<string, number>();
  #signal: AbortSignal | undefined;
  #idle: (() => void) | undefined;

  constructor(
    work: (key: string) => Promise<WorkOutcome>,
    clock: Clock,
    workers: number,
    onWorked?: OnWorked,
    random: () => number = Math.random,
    laneOf?: (key: string) => string,
  ) {
    this.#work = work;
    this.#clock = clock;
    this.#workers = workers;
    this.#onWorked = onWorked;
    this.#random = random;
    this.#laneOf = laneOf;
  }

  /** Keys that wait, are worked on, or are due later. */
  get size(): number {
    return this.#waiting.size + this.#working.size + this.#timers.size;
  }

  /** Adds a key, at once or after some ms. A key that waits already is not added twice; the earlier time counts. */
  add(key: string, afterMs = 0): void {
    const later = this.#timers.get(key);
    const dueAt = this.#clock.now() + afterMs;
    if (afterMs > 0 && (this.#waiting.has(key) || (later !== undefined && later.dueAt <= dueAt))) return;
    clearTimeout(later?.timer);
    this.#timers.delete(key);
    if (afterMs > 0) {
      this.#timers.set(key, { timer: setTimeout(() => this.add(key), afterMs), dueAt });
      return;
    }
    if (this.#working.has(key)) this.#again.add(key);
    else this.#waiting.add(key);
    this.#next();
  }

  /** Works until `signal` is aborted; resolves when no work is left under way. */
  async run(signal: AbortSignal): Promise<void> {
    this.#signal = signal;
    const stopped = new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener("abort", () => resolve(), { once: true });
    });
    this.#next();
    await stopped;
    for (const { timer } of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    this.#waiting.clear();
    this.#again.clear();
    if (this.#working.size > 0) await new Promise<void>((resolve) => (this.#idle = resolve));
  }

  #next(): void {
    while (this.#signal?.aborted === false && this.#working.size < this.#workers) {
      const key = this.#nextKey();
      if (key === undefined) return;
      this.#waiting.delete(key);
      void this.#workOn(key);
    }
  }

  /** The first waiting key whose lane may have another worker. */
  #nextKey(): string | undefined {
    const laneOf = this.#laneOf;
    const [first] = this.#waiting;
    if (laneOf === undefined || first === undefined) return first;
    const working = Map.groupBy(this.#working, laneOf);
    const free = this.#workers - this.#working.size;
    for (const key of this.#waiting) {
      const own = working.get(laneOf(key))?.length ?? 0;
      if (own === 0 || own < free) return key;
    }
    return undefined;
  }

  async #workOn(key: string): Promise<void> {
    this.#working.add(key);
    const startedAt = this.#clock.now();
    let outcome: WorkOutcome;
    try {
      outcome = await this.#work(key);
    } catch (error) {
      outcome = { kind: "failed", why: error instanceof Error ? (error.stack ?? error.message) : String(error) };
    }
    this.#working.delete(key);
    this.#onWorked?.(key, outcome, this.#clock.now() - startedAt);
    if (this.#signal?.aborted !== false) {
      if (this.#working.size === 0) this.#idle?.();
      return;
    }
    const isTriedAgain = outcome.kind === "failed" || outcome.kind === "conflict";
    const failures = isTriedAgain ? (this.#failures.get(key) ?? 0) : 0;
    if (isTriedAgain) this.#failures.set(key, failures + 1);
    else this.#failures.delete(key);
    // A change that came meanwhile is worked on at once, unless the last work failed: its pause protects the API server.
    const isDue = this.#again.delete(key);
    if (isTriedAgain) {
      const pauseMs = outcome.kind === "failed" ? (outcome.pauseMs ?? 0) : 0;
      this.add(key, pauseBefore(failures, this.#random, pauseMs, maxPauseMs));
    } else if (isDue) this.add(key);
    else if (outcome.kind === "again") this.add(key, Math.max(1, outcome.afterMs));
    this.#next();
  }
}
