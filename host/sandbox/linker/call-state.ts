// Where one call of a guest stands. The canonical ABI lets a guest call imports only while its own exported function
// runs: not while it is instantiated, not from its allocator, not in post-return. And a guest that caught what the host
// threw goes no further.

import { GuestFault } from "../abi/guest-fault.ts";
import type { Meter } from "./meter.ts";
import { requireHeadroom } from "./stack-headroom.ts";

export class CallState {
  private stage: "entering" | "running" | "import" | "leaving" = "entering";
  private imports = 0;
  private readonly mostImports: number;
  private readonly meter: Meter;
  private fail: ((error: unknown) => void) | undefined;
  /** What went wrong first on the host's side; it decides the call whatever the guest answers. */
  broken: unknown;

  constructor(mostImports: number, meter: Meter) {
    this.mostImports = mostImports;
    this.meter = meter;
  }

  /** The exported function begins. */
  run(): void {
    this.stage = "running";
  }

  /** The exported function has ended. */
  leave(): void {
    this.stage = "leaving";
  }

  /** Runs an import: `ask` is the host's work; `hand` gives its answer to the guest, whose allocator may run for it. */
  import<T>(name: string, ask: () => T, hand?: (value: T) => void): void {
    this.meter.pause();
    try {
      this.begin(name);
      requireHeadroom();
      const value = ask();
      this.meter.resume();
      hand?.(value);
      this.stage = "running";
    } catch (error) {
      this.broken ??= error;
      throw error;
    }
  }

  /** As `import` for a guest that is suspended: goes on when what `ask` promises is there. */
  wait<T>(name: string, ask: () => T | Promise<T>, hand: (value: T) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      this.meter.pause();
      let waits = true;
      const fail = (error: unknown): void => {
        // Abandoned before: what the host says now is nobody's.
        if (!waits) return;
        waits = false;
        this.fail = undefined;
        this.broken ??= error;
        reject(error);
      };
      const answered = (value: T): void => {
        if (!waits) return;
        this.meter.resume();
        try {
          hand(value);
        } catch (error) {
          fail(error);
          return;
        }
        waits = false;
        this.fail = undefined;
        this.stage = "running";
        resolve();
      };
      try {
        this.begin(name);
        const answer = ask();
        this.fail = fail;
        if (answer instanceof Promise) answer.then(answered, fail);
        else answered(answer);
      } catch (error) {
        fail(error);
      }
    });
  }

  /**
   * Ends the guest where it is suspended: what it waits for throws, it can't catch that, and its stack is given back at once. Nothing
   * where it runs: its meter ends it.
   */
  abandon(fault: GuestFault): void {
    this.fail?.(fault);
  }

  private begin(name: string): void {
    if (this.broken !== undefined) throw this.broken;
    if (this.stage !== "running") {
      throw new GuestFault(
        "ABI_VIOLATED",
        `calls ${name} while it is ${this.stage === "entering" ? "being instantiated or allocating" : "allocating or cleaning up"}`,
      );
    }
    this.imports += 1;
    if (this.imports > this.mostImports) {
      throw new GuestFault("LIMIT_TIME", `calls its imports more than ${this.mostImports} times`);
    }
    this.stage = "import";
  }
}
