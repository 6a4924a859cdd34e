// What runs a delegate's call: in this process or in a sandbox process, the same to whoever asks.

import type { Result } from "../../src/fault/result.ts";
import type { Capabilities, VerbTypes } from "./abi/generated/delegate-0.1.0.ts";
import type { AdmittedComponent } from "./admission/admit.ts";
import type { Limits } from "./limits.ts";
import type { CallReport } from "./linker/call.ts";

export type Verb = keyof VerbTypes;

/** Capabilities for one call, each answering at once. A capability that the component doesn't use may be left out. */
export type SyncImports = { readonly [C in keyof Capabilities]?: Capabilities[C] };

type Deferred<F> = F extends (...args: infer A) => infer R ? (...args: A) => R | Promise<R> : never;

/** Capabilities for one call, answering at once or later. */
export type CapabilityImports = {
  readonly [C in keyof Capabilities]?: { readonly [F in keyof Capabilities[C]]: Deferred<Capabilities[C][F]> };
};

export interface GuestCall<V extends Verb> {
  readonly component: AdmittedComponent;
  readonly verb: V;
  readonly request: VerbTypes[V]["request"];
  readonly limits: Limits;
  /** Milliseconds that the whole call may take, imports included. */
  readonly deadlineMs: number;
}

export interface GuestSuccess<V extends Verb> {
  readonly value: VerbTypes[V]["success"];
  readonly report: CallReport;
}

export interface GuestRunner {
  /**
   * Calls a verb on a fresh instance. A delegate's own error comes back as DELEGATE_FAILED with its code; a limit, a trap
   * or a broken ABI as that kind. After any of these the runner is as good as before.
   */
  call<V extends Verb>(call: GuestCall<V>, imports: CapabilityImports): Promise<Result<GuestSuccess<V>>>;
  close(): Promise<void>;
}
