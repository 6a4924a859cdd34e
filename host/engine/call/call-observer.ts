// Who watches one call: the daemon, for its metrics, its log and its spans. A one-shot brain has nobody, and pays nothing. Nothing here
// may fail: seeing must not break an attachment.

import type { Verb } from "../../src/cni/environment.ts";
import type { StepOutcome } from "../../src/cni/chain-step.ts";
import type { HostConfiguration } from "../../src/configuration/host-configuration.ts";
import type { Fault } from "../../src/fault/fault.ts";
import type { SpanContext } from "../../src/trace/trace-context.ts";

export type StepKind = "native" | "wasm";

/** What is known of a step before it ran. */
export interface TracedStep {
  readonly containerId: string;
  readonly network: string;
  readonly ifname: string;
  readonly verb: Verb;
  readonly type: string;
  readonly kind: StepKind;
  /** True for a call that a native plugin made on its own (its `ipam.type`). */
  readonly nested: boolean;
}

/** A span that is recorded, and the one that it belongs to; none where a trace begins. */
export interface Span {
  readonly context: SpanContext;
  readonly parentId: string | undefined;
}

/** How a call ended. */
export interface CallEnd {
  /** Milliseconds. */
  readonly ms: number;
  /** Undefined where it succeeded. */
  readonly fault: Fault | undefined;
  /** Where it was read. */
  readonly configuration: Pick<HostConfiguration, "name" | "cniDir" | "wasm"> | undefined;
}

export interface CallObserver {
  /** The call's span, under which its steps go on; undefined where no spans are recorded. */
  readonly span: SpanContext | undefined;
  /** A step ended that took `ms` milliseconds. */
  readonly step: (step: TracedStep, ms: number, outcome: StepOutcome, span: Span | undefined) => void;
  /** The chain of one network for the call's container ended. */
  readonly attachment: (
    attachment: Pick<TracedStep, "verb" | "network" | "ifname">,
    ms: number,
    fault: Fault | undefined,
  ) => void;
  /** A line of the call's log: a warning of ours, or a delegate's word. Not made harmless yet. */
  readonly line: (from: "plexus" | "delegate", text: string) => void;
  readonly end: (end: CallEnd) => void;
}
