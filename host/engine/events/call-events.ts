// The observer of one call: the daemon's metrics, log and spans. A one-shot engine has no observer. An observer's functions must not
// throw, because observing must not break an attachment.

import type { Verb } from "../../../src/cni/environment.ts";
import type { StepOutcome } from "../../../src/cni/chain-step.ts";
import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import type { ShadowReport } from "./shadow-report.ts";
import type { FaultKind } from "../../../src/fault/catalogue.ts";
import type { Fault } from "../../../src/fault/fault.ts";
import type { SpanContext } from "../../../src/trace/trace-context.ts";

/** The kind of a step's plugin: a native binary or a WebAssembly component. */
export type StepKind = "native" | "wasm";

/** A step before it runs. */
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

/** A recorded span, with the id of its parent span; the first span of a trace has no parent. */
export interface Span {
  readonly context: SpanContext;
  readonly parentId: string | undefined;
}

/** An act of a rule for steps: a failed step is tried again, or its chain goes on without it. */
export interface RuleAct extends Pick<TracedStep, "verb" | "network" | "type"> {
  readonly what: "retried" | "passed-over";
  readonly fault: FaultKind;
}

/** The run of a shadow beside a step. */
export interface ShadowRun extends Pick<ShadowReport, "verb" | "type" | "shadow" | "outcome"> {
  readonly network: string;
  /** The difference, or why there is no comparison; empty for a match. */
  readonly text: string;
}

/** The end of a call. */
export interface CallEnd {
  /** The call's duration in milliseconds. */
  readonly ms: number;
  /** Undefined if the call succeeded. */
  readonly fault: Fault | undefined;
  /** Undefined if the configuration could not be read. */
  readonly configuration: Pick<HostConfiguration, "name" | "cniDir" | "wasm"> | undefined;
}

/** Receives the events of one call. */
export interface CallObserver {
  /** The call's span, which is the parent of its steps' spans; undefined if no spans are recorded. */
  readonly span: SpanContext | undefined;
  /** A step ended that took `ms` milliseconds. */
  readonly step: (step: TracedStep, ms: number, outcome: StepOutcome, span: Span | undefined) => void;
  /** A rule for steps acted. */
  readonly rule?: (act: RuleAct) => void;
  /** A shadow has run, or could not. */
  readonly shadow?: (run: ShadowRun) => void;
  /** The chain of one network for the call's container ended. */
  readonly attachment: (
    attachment: Pick<TracedStep, "verb" | "network" | "ifname">,
    ms: number,
    fault: Fault | undefined,
  ) => void;
  /** A line of the call's log: a warning of Plexus, or a message that a delegate logged. A warning may contain control characters. */
  readonly line: (from: "plexus" | "delegate", text: string) => void;
  /** A line of the call's log that a native plugin printed to stderr. */
  readonly output: (plugin: Pick<TracedStep, "type" | "ifname">, text: string) => void;
  readonly end: (end: CallEnd) => void;
}
