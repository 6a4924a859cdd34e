// The events of one call, as one stream. The engine tells what happens; log, metrics, spans, recent calls, the trace file, the chain trace and Events
// of Kubernetes subscribe. A subscriber must not throw, because observing must not break an attachment.

import type { StepVerdict, TracedCall } from "../../../src/chain-trace/chain-trace.ts";
import type { ChainStep, StepOutcome } from "../../../src/cni/chain-step.ts";
import type { Verb } from "../../../src/cni/environment.ts";
import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import type { Fault } from "../../../src/fault/fault.ts";
import type { Result } from "../../../src/fault/result.ts";
import type { SpanContext } from "../../../src/trace/trace-context.ts";
import type { StepDetail } from "../../capabilities/step-detail.ts";
import type { Step } from "../../capabilities/step.ts";
import type { PluginAnswer } from "../../protocol/messages.ts";
import type { Clock } from "../../system/clock.ts";
import type { ShadowReport } from "../../../src/step-policy/shadow-report.ts";

/** The kind of a step's plugin: a native binary or a WebAssembly component. */
export type StepKind = "native" | "wasm";

/** The identity of a step in logs, metrics and traces. */
export interface StepIdentity {
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

/** A step begins. `run` is its number in the call. */
export interface StepBegan {
  readonly what: "step-began";
  readonly run: number;
  readonly kind: StepKind;
  readonly step: Step;
}

/** A step ended. `ms`: its duration in milliseconds. `span` is undefined if no subscriber records spans. */
export interface StepEnded {
  readonly what: "step-ended";
  readonly run: number;
  readonly step: StepIdentity;
  readonly ms: number;
  readonly outcome: StepOutcome;
  readonly span: Span | undefined;
}

/** A rule for steps acted: a failed step is tried again, or its chain goes on without it. */
export interface StepRuled {
  readonly what: "step-retried" | "step-passed-over";
  readonly step: ChainStep;
  readonly network: string;
  readonly ifname: string;
  readonly fault: Fault;
}

/** Another host has an address that the attachment was to get. */
export interface AddressConflictFound {
  readonly what: "address-conflict";
  readonly network: string;
  readonly ifname: string;
  readonly address: string;
  readonly mac: string;
}

/** A shadow has run beside a step, or could not. `text`: the difference, or why there is no comparison; empty for a match. */
export interface ShadowEnded {
  readonly what: "shadow-ended";
  readonly network: string;
  readonly report: ShadowReport;
  readonly text: string;
}

/** The chain of one network for the call's container ended. */
export interface ChainEnded {
  readonly what: "chain-ended";
  readonly verb: Verb;
  readonly network: string;
  readonly ifname: string;
  readonly ms: number;
  readonly fault: Fault | undefined;
}

/** The runtime has its answer, and the call ended. */
export interface CallEnded {
  readonly what: "call-ended";
  /** The call's duration in milliseconds. */
  readonly ms: number;
  /** Undefined if the call succeeded. */
  readonly fault: Fault | undefined;
  /** Undefined if the configuration could not be read. */
  readonly configuration: Pick<HostConfiguration, "name" | "cniDir" | "wasm"> | undefined;
}

/** One event of a call. */
export type CallEvent =
  | StepBegan
  /** A detail of a step that runs. Told only if a subscriber records details. */
  | { readonly what: "step-detail"; readonly run: number; readonly detail: StepDetail }
  /** A decision about a step, also after its end. */
  | { readonly what: "step-decided"; readonly step: ChainStep; readonly verdict: StepVerdict }
  | StepEnded
  | StepRuled
  | AddressConflictFound
  | ShadowEnded
  | ChainEnded
  /** A warning of Plexus for the administrator. It may contain control characters. */
  | { readonly what: "warned"; readonly text: string }
  /** A component logged a line, with its line feed. */
  | { readonly what: "component-logged"; readonly line: string }
  /** A native plugin printed a line to its stderr, with its line feed. */
  | { readonly what: "plugin-printed"; readonly type: string; readonly ifname: string; readonly line: string }
  | CallEnded;

/** Receives the events of one call. */
export interface Subscriber {
  readonly receive: (event: CallEvent) => void;
  /** The call's span, which is the parent of its steps' spans; undefined if the subscriber records no span of the call. */
  readonly span?: SpanContext | undefined;
  /** Whether each step needs a span. */
  readonly recordsSpans?: boolean;
  /** Whether the details of steps are wanted. */
  readonly recordsDetails?: boolean;
}

/** The stream of one call. */
export class CallEvents {
  readonly #subscribers: Subscriber[] = [];
  #runs = 0;
  #recordsSpans = false;
  #recordsDetails = false;

  /** Adds a subscriber; undefined adds none. It receives the events from now on. */
  subscribe(subscriber: Subscriber | undefined): void {
    if (subscriber === undefined) return;
    this.#subscribers.push(subscriber);
    if (subscriber.recordsSpans === true || subscriber.span !== undefined) this.#recordsSpans = true;
    if (subscriber.recordsDetails === true) this.#recordsDetails = true;
  }

  tell(event: CallEvent): void {
    for (const { receive } of this.#subscribers) receive(event);
  }

  warn(text: string): void {
    this.tell({ what: "warned", text });
  }

  /** The number of the next step that runs. */
  nextRun(): number {
    return ++this.#runs;
  }

  /** Whether a subscriber records spans of steps. */
  get recordsSpans(): boolean {
    return this.#recordsSpans;
  }

  /** Whether a subscriber records details of steps. */
  get recordsDetails(): boolean {
    return this.#recordsDetails;
  }
}

/** The recording of one call. */
export interface CallRecording {
  readonly subscriber: Subscriber;
  /** Ends the recording with the call's answer. `ms`: the call's duration. Fault STORE_FAILED. */
  readonly end: (reply: PluginAnswer, ms: number) => Result<void>;
  /** Ends the recording of a call that has no answer. */
  readonly abandon: () => void;
}

/**
 * Begins to record a call that the configuration or an administrator's request selects. Undefined: neither selects the call, and no code of a
 * recorder is loaded. NOT_AVAILABLE if too many calls are being recorded, and the faults of the place.
 */
export type RecordCall = (
  call: TracedCall,
  configuration: HostConfiguration,
  clock: Clock,
) => Promise<Result<CallRecording | undefined>> | undefined;

/** A recorder of calls. */
export interface CallRecorder {
  /** The configuration key that switches the recorder on. Absent: the recorder looks at each call. */
  readonly key?: keyof HostConfiguration;
  readonly record: RecordCall;
}
