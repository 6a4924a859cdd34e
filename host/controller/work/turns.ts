// Divides long work into turns of the event loop, so that the lease is renewed and other work goes on meanwhile.

import { setImmediate } from "node:timers/promises";
import type { WorkSteps } from "../../../src/lint/work-steps.ts";

/** Units of a turn: characters of a configuration, or comparisons. Some 10 ms at most. */
const usualUnits = 16_384;

/** The turns of one piece of work. */
export class Turns {
  readonly #unitsPerTurn: number;
  readonly #signal: AbortSignal | undefined;
  #units = 0;
  #count = 0;

  constructor({ unitsPerTurn = usualUnits, signal }: { readonly unitsPerTurn?: number; readonly signal?: AbortSignal } = {}) {
    this.#unitsPerTurn = unitsPerTurn;
    this.#signal = signal;
  }

  /** Turns that have ended. */
  get count(): number {
    return this.#count;
  }

  /** Whether the work should end, because its result is no longer needed. */
  get aborted(): boolean {
    return this.#signal?.aborted === true;
  }

  /** Counts units of work that is done; ends the turn when it has enough of them. */
  async pass(units: number): Promise<void> {
    this.#units += units;
    if (this.#units < this.#unitsPerTurn) return;
    this.#units = 0;
    this.#count += 1;
    await setImmediate();
  }

  /** Does all steps. */
  async run<T>(steps: WorkSteps<T>): Promise<T> {
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
      await this.pass(step.value);
    }
  }
}
