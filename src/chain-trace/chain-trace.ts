// A chain trace: one call of the runtime with every step's input, output and changes. `plexusctl trace` shows, compares and replays it.

import type { Verb } from "../cni/environment.ts";
import type { JsonChange } from "../json/json-changes.ts";

/** The document's `apiVersion` and `kind`. A reader refuses every other version. */
export const chainTraceVersion = { apiVersion: "plexus/v1", kind: "ChainTrace" } as const;

/** One call of the runtime, or one that Plexus made itself. */
export interface ChainTrace {
  /** The version of Plexus that recorded the call. */
  readonly plexus: string;
  /** The call's beginning, in the form of ISO 8601. */
  readonly time: string;
  /** The call's duration, in milliseconds. */
  readonly ms: number;
  readonly call: TracedCall;
  readonly reply: TracedReply;
  /** The steps in the order in which they began. Each contains the steps that its plugin called. */
  readonly steps: readonly StepRecord[];
  /** Number of different secrets that tokens such as `[redacted-1]` replace. Equal secrets have equal tokens. */
  readonly secrets: number;
  /** Parts of the trace that are missing, because it reached a bound. */
  readonly omitted: readonly string[];
}

/** The request. */
export interface TracedCall {
  readonly verb: Verb;
  readonly containerId: string;
  readonly ifname: string;
  readonly netns: string;
  /** NAMESPACE/NAME of the pod; undefined for a container that is no pod. */
  readonly pod?: string | undefined;
  /** CNI_ARGS. */
  readonly args: string;
  /** The configuration on stdin, exactly as the runtime sent it. */
  readonly stdin: string;
}

/** The answer to the runtime. */
export interface TracedReply {
  /** The exit status. */
  readonly status: number;
  /** A result or a CNI error; empty for the success of a verb without a result. */
  readonly stdout: string;
}

/** Why a step ran: for the call itself, or to undo what a failed ADD had made. */
export type StepPurpose = "call" | "undo";

/** The caller of a step: a network's chain, a native plugin, or a delegate that uses the capability `delegation`. */
export type StepCaller = "chain" | "nested-call" | "delegate";

/** The called plugin, its attachment, and its callers. */
export interface StepNames {
  readonly network: string;
  readonly ifname: string;
  readonly verb: Verb;
  /** The plugin's type. */
  readonly type: string;
  readonly kind: "native" | "wasm";
  readonly caller: StepCaller;
  readonly purpose: StepPurpose;
}

/** One call of one plugin. */
export interface StepRecord extends StepNames {
  /** Milliseconds from the call's beginning to the step's. */
  readonly startMs: number;
  /** The step's duration, in milliseconds. */
  readonly ms: number;
  /** The `CNI_*` variables of the step's environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string;
  /** `prevResult` on stdin; undefined if it is absent or no JSON. */
  readonly prevResult: unknown;
  /** The result on stdout of an ADD; undefined for other verbs, for a failure, and for an ADD without output. */
  readonly result: unknown;
  /** The changes of the step's result against `prevResult`; empty for a step without a result. */
  readonly changes: readonly JsonChange[];
  readonly outcome: TracedOutcome;
  readonly native?: NativeRecord | undefined;
  readonly component?: ComponentRecord | undefined;
  /** Decisions of Plexus about the step: a limit, a grant, a policy. */
  readonly verdicts: readonly StepVerdict[];
  /** Names of the step's fields that are missing or incomplete, because the trace reached a bound. */
  readonly omitted: readonly string[];
  /** The steps that this step's plugin called. */
  readonly steps: readonly StepRecord[];
}

/** How a step ended. */
export type TracedOutcome = { readonly ok: true; readonly stdout: string } | { readonly ok: false; readonly fault: TracedFault };

/** A fault of src/fault/. `kind` may be one that another release has. */
export interface TracedFault {
  readonly kind: string;
  readonly code: number;
  readonly msg: string;
  readonly details?: string | undefined;
}

/** The process of a native plugin. */
export interface NativeRecord {
  /** The executed file. */
  readonly path: string;
  /** Such as `exit status 1`, `signal SIGKILL` or `deadline passed`. */
  readonly exit: string;
  readonly stderr: string;
}

/** A call of a component. */
export interface ComponentRecord {
  /** The component's file. */
  readonly path: string;
  /** `sha256:` and the digest of its bytes; empty if they were not read. */
  readonly digest: string;
  /** The type's grants and the limits, as in the configuration's `wasm`. */
  readonly grants: unknown;
  readonly limits: unknown;
  /** Calls of imports, in order; those of `log` are in `log`. */
  readonly calls: readonly ImportCall[];
  /** Lines such as `info: text`. */
  readonly log: readonly string[];
  readonly usage?: ComponentUsage | undefined;
}

/** One call of a capability's function. Values are encoded by import-values.ts. */
export interface ImportCall {
  readonly capability: string;
  readonly func: string;
  readonly args: readonly unknown[];
  readonly answer: unknown;
  /** Milliseconds until the answer. */
  readonly ms: number;
  /** True if `args` or `answer` were too large and are missing. */
  readonly isCut?: boolean | undefined;
}

/** The resources that a component's call used. */
export interface ComponentUsage {
  readonly memoryBytes: number;
  readonly inputBytes: number;
  readonly outputBytes: number;
  /** The guest's own time, in milliseconds. */
  readonly guestMs: number;
}

/** A decision of Plexus about a step. */
export interface StepVerdict {
  /** A word in lower case such as `limit`, `grant`, `failure-policy`, `shadow` or `deadline`. */
  readonly kind: string;
  /** One sentence. */
  readonly text: string;
}
