// Log lines about lost Events: one at once, and then one a minute at most, with the number of the others.

import type { Clock } from "../../system/clock.ts";

/** Minimum time between two lines, in ms. */
const windowMs = 60_000;

/** The lines of one queue. */
export class LossLog {
  readonly #clock: Clock;
  readonly #warn: (text: string) => void;
  #lastAt: number | undefined;
  /** The losses since the last line. */
  #others = 0;
  /** The line about the first of them. */
  #first = "";
  #timer: NodeJS.Timeout | undefined;

  constructor(clock: Clock, warn: (text: string) => void) {
    this.#clock = clock;
    this.#warn = warn;
  }

  /** Notes that an Event is lost. */
  add(title: string, why: string): void {
    const line = `${title} is lost: ${why}`;
    const leftMs = this.#lastAt === undefined ? 0 : this.#lastAt + windowMs - this.#clock.now();
    if (this.#others === 0 && leftMs <= 0) return this.#write(line);
    if (this.#others === 0) this.#first = line;
    this.#others += 1;
    this.#timer ??= setTimeout(() => this.end(), Math.max(1, leftMs)).unref();
  }

  /** Writes the line about the losses since the last one. */
  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#others === 1) this.#write(this.#first);
    else if (this.#others > 1) this.#write(`${this.#first}; and ${this.#others - 1} more Events are lost`);
    this.#others = 0;
  }

  #write(line: string): void {
    this.#lastAt = this.#clock.now();
    this.#warn(line);
  }
}
