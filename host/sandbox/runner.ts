// The interface of the two runners of guests: in this process (in-process.ts) and in a sandbox process (process/pool.ts).

import type { Result } from "../../src/fault/result.ts";
import type { Capabilities, VerbTypes } from "./abi/generated/delegate-1.1.0.ts";
import type { AdmittedComponent } from "./admission/admit.ts";
import type { Limits } from "./limits.ts";
import type { CallReport } from "./linker/call.ts";

/** A verb that a component exports. */
export type Verb = keyof VerbTypes;

/** Synchronous capabilities for one call. A capability that the component does not use may be absent. */
export type SyncImports = { readonly [C in keyof Capabilities]?: Capabilities[C] };

type Deferred<F> = F extends (...args: infer A) => infer R ? (...args: A) => R | Promise<R> : never;

/** Capabilities for one call, which answer synchronously or with a promise. */
export type CapabilityImports = {
  readonly [C in keyof Capabilities]?: { readonly [F in keyof Capabilities[C]]: Deferred<Capabilities[C][F]> };
};

/** The bounds and the origin of one call of a component. */
export interface GuestTerms {
  readonly limits: Limits;
  /**
   * The namespace of the network's definition; empty (the default) for a network that the administrator configured. A sandbox process serves
   * the calls of one component from one source, because sources may have different grants.
   */
  readonly source?: string;
  /** The namespace of the call's pod; empty (the default) for none. Namespaces take turns at the sandbox processes. */
  readonly namespace?: string;
  /** Whether no pod needs the answer: all other calls that wait for a sandbox process come first. */
  readonly isLast?: boolean;
  /** Milliseconds for the whole call, including imports. */
  readonly deadlineMs: number;
}

/** One call of a component's verb. */
export interface GuestCall<V extends Verb> extends GuestTerms {
  readonly component: AdmittedComponent;
  readonly verb: V;
  readonly request: VerbTypes[V]["request"];
}

/** A verb's success, and the resources that the call used. */
export interface GuestSuccess<V extends Verb> {
  readonly value: VerbTypes[V]["success"];
  readonly report: CallReport;
}

/** Runs calls of guests. */
export interface GuestRunner {
  /**
   * Calls a verb on a fresh instance. A delegate's own error is the fault DELEGATE_FAILED with the delegate's code; a limit, a trap or a
   * violation of the ABI is a fault of that kind. The runner remains usable after every fault.
   */
  call<V extends Verb>(call: GuestCall<V>, imports: CapabilityImports): Promise<Result<GuestSuccess<V>>>;
  /** Ends the runner's processes, if any. */
  close(): Promise<void>;
}
