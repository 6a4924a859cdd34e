// A runner that refuses every call: the configured isolation is stronger than what this engine has.

import type { Result } from "../../src/fault/result.ts";
import { hostFault } from "./call-result.ts";
import type { GuestCall, GuestRunner, GuestSuccess, Verb } from "./runner.ts";

/** Refuses each call with SANDBOX_UNAVAILABLE and this reason. */
export class RefusingRunner implements GuestRunner {
  readonly #reason: string;

  constructor(reason: string) {
    this.#reason = reason;
  }

  async call<V extends Verb>({ component, verb }: GuestCall<V>): Promise<Result<GuestSuccess<V>>> {
    return hostFault(component, verb, "SANDBOX_UNAVAILABLE", this.#reason);
  }

  async close(): Promise<void> {
    // A refusing runner has nothing open.
  }
}
