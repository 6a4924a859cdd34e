// The state of one call of a guest. The canonical ABI allows a guest to call imports only while its exported function runs: not during
// instantiation, not in its allocator and not in post-return. A guest that caught the host's exception cannot call imports either.

import { GuestFault } from "../abi/guest-fault.ts";
import type { Meter } from "./meter.ts";
import { requireHeadroom } from "./stack-headroom.ts";

/** Guards the imports of one call: their order, their number and the meter. */
export class CallState {
  #stage: "entering" | "running" | "import" | "leaving" = "entering";
  #imports = 0;
  readonly #maxImportCalls: number;
  readonly #meter: Meter;
  #fail: ((error: unknown) => void) | undefined;
  /** The first error of the host or of an import. It decides the call, whatever the guest answers. */
  firstError: unknown;

  constructor(maxImportCalls: number, meter: Meter) {
    this.#maxImportCalls = maxImportCalls;
    this.#meter = meter;
  }

  /** The exported function begins. */
  run(): void {
    this.#stage = "running";
  }

  /** The exported function has ended. */
  leave(): void {
    this.#stage = "leaving";
  }

  /** Runs an import. `ask` is the host's work; `deliver` writes the answer into the guest's memory and may run the guest's allocator. */
  import<T>(name: string, ask: () => T, deliver?: (value: T) => void): void {
    this.#meter.pause();
    try {
      this.#begin(name);
      requireHeadroom();
      const value = ask();
      this.#meter.resume();
      deliver?.(value);
      this.#stage = "running";
    } catch (error) {
      this.firstError ??= error;
      throw error;
    }
  }

  /** Like `import`, for a suspended guest. The guest resumes when the promise of `ask` settles. */
  importSuspended<T>(name: string, ask: () => T | Promise<T>, deliver: (value: T) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#meter.pause();
      let waiting = true;
      const fail = (error: unknown): void => {
        // The call was abandoned, so nobody waits for this answer.
        if (!waiting) return;
        waiting = false;
        this.#fail = undefined;
        this.firstError ??= error;
        reject(error);
      };
      const answered = (value: T): void => {
        if (!waiting) return;
        this.#meter.resume();
        try {
          deliver(value);
        } catch (error) {
          fail(error);
          return;
        }
        waiting = false;
        this.#fail = undefined;
        this.#stage = "running";
        resolve();
      };
      try {
        this.#begin(name);
        const answer = ask();
        this.#fail = fail;
        if (answer instanceof Promise) answer.then(answered, fail);
        else answered(answer);
      } catch (error) {
        fail(error);
      }
    });
  }

  /**
   * Ends a suspended guest: its import throws an exception that it cannot catch, and V8 frees its stack. Has no effect on a running guest,
   * which the meter ends.
   */
  abandon(fault: GuestFault): void {
    this.#fail?.(fault);
  }

  #begin(name: string): void {
    if (this.firstError !== undefined) throw this.firstError;
    if (this.#stage !== "running") {
      throw new GuestFault(
        "ABI_VIOLATED",
        `calls ${name} while it is ${this.#stage === "entering" ? "being instantiated or allocating" : "allocating or cleaning up"}`,
      );
    }
    this.#imports += 1;
    if (this.#imports > this.#maxImportCalls) {
      throw new GuestFault("LIMIT_TIME", `calls its imports more than ${this.#maxImportCalls} times`);
    }
    this.#stage = "import";
  }
}
