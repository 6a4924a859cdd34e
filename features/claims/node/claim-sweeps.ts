// Sweeps of prepared claims: at the daemon's start, and at an interval, because a kubelet may lose its own state while the daemon runs.

import type { Result } from "../../../src/fault/result.ts";

/** Interval of the sweeps, in ms. */
export const sweepMs = 600_000;

/** The sweeps of one daemon. */
export class ClaimSweeps {
  /** Answers the number of removed claims; undefined without an API. */
  readonly #sweep: () => Promise<Result<number> | undefined>;
  readonly #log: (level: "info" | "warn", text: string) => void;
  #timer: NodeJS.Timeout | undefined;
  #working = false;

  constructor(sweep: () => Promise<Result<number> | undefined>, log: (level: "info" | "warn", text: string) => void) {
    this.#sweep = sweep;
    this.#log = log;
  }

  /** Sweeps now, and then at the interval. */
  async start(): Promise<void> {
    this.#timer = setInterval(() => void this.#round(), sweepMs).unref();
    await this.#round();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** One at a time: a request to an API that does not answer may take longer than the interval. */
  async #round(): Promise<void> {
    if (this.#working) return;
    this.#working = true;
    try {
      const swept = await this.#sweep();
      if (swept?.ok === false) this.#log("warn", `claims: the sweep of prepared claims: ${swept.fault.msg}`);
      if (swept?.ok === true && swept.value > 0)
        this.#log("info", `claims: removed ${swept.value} prepared claims that the API does not have`);
    } finally {
      this.#working = false;
    }
  }
}
