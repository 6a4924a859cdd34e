// The answers of capabilities: a `Result` of the host as the WIT result that a delegate receives.

import { type Fault, fault } from "../../src/fault/fault.ts";
import type { Result } from "../../src/fault/result.ts";
import type { Fault as WitFault } from "../sandbox/abi/generated/delegate-1.1.0.ts";
import type { Outcome } from "../sandbox/abi/guest.ts";

/** The answer of an import: its value, or the record `fault` of the WIT contract. */
export type WitOutcome<T> = Outcome<T, WitFault>;

/** A WIT interface whose functions return promises, because they wait for the shim or for a plugin. */
export type Deferred<I> = {
  readonly [F in keyof I]: I[F] extends (...args: infer A) => infer R ? (...args: A) => Promise<R> : never;
};

/** The WIT result for a `Result`. */
export function witOutcome<T>(result: Result<T>): WitOutcome<T> {
  return result.ok ? { ok: result.value } : refuse(result.fault);
}

/** The WIT result for a fault. The delegate receives code, message and details; the fault's kind stays on the host's side. */
export function refuse({ code, msg, details }: Fault): { readonly err: WitFault } {
  return { err: { code, msg, details } };
}

/** A function that makes the fault CAPABILITY_MISUSED of one capability, for a request that its contract forbids. */
export function misuseOf(capability: string): (why: string) => Fault {
  return (why) => fault("CAPABILITY_MISUSED", `${capability}: ${why}`);
}
