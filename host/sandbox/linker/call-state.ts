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

  /** Runs an import: `act` is all the host's. */
  import<T>(name: string, act: () => T): T {
    this.meter.pause();
    try {
      if (this.broken !== undefined) throw this.broken;
      if (this.stage !== "running") {
        throw new GuestFault(
          "ABI_VIOLATED",
          `calls ${name} while it is ${this.stage === "entering" ? "being instantiated or allocating" : "allocating or cleaning up"}`,
        );
      }
      this.imports += 1;
      if (this.imports > this.mostImports)
        throw new GuestFault("LIMIT_TIME", `calls its imports more than ${this.mostImports} times`);
      requireHeadroom();
      this.stage = "import";
      const value = act();
      this.stage = "running";
      return value;
    } catch (error) {
      this.broken ??= error;
      throw error;
    } finally {
      this.meter.resume();
    }
  }
}
