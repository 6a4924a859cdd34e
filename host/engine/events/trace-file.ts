// Records steps: as a line of JSON in the file of the configuration's `trace`, for the call's observer, and in the call's chain trace. A step that
// the first two record has a span of its own, and the plugin's TRACEPARENT names that span.

import type { EnvironmentPair } from "../../../src/cni/environment.ts";
import type { StepVerdict } from "../../../src/chain-trace/chain-trace.ts";
import type { ChainStep, StepOutcome } from "../../../src/cni/chain-step.ts";
import { parseTraceparent, type SpanContext, underSpan } from "../../../src/trace/trace-context.ts";
import type { RunningStep } from "../../capabilities/step.ts";
import type { StepRecorder } from "../../capabilities/step-detail.ts";
import { appendLines } from "../../store/files/regular-file.ts";
import type { CallObserver, Span, TracedStep } from "./call-events.ts";
import type { CallRecorder } from "../trace/call-recorder.ts";
import { newSpanId } from "./span-id.ts";

/** A running step that is recorded. */
export interface RecordedStep {
  /** The plugin's environment, with the step's span as TRACEPARENT. */
  readonly env: readonly EnvironmentPair[];
  /** Records the step's details; undefined if the call has no chain trace. */
  readonly recorder: StepRecorder | undefined;
  /** Records the step's end. `ms`: the step's duration in milliseconds. */
  readonly end: (ms: number, outcome: StepOutcome) => void;
}

/** Records the steps of one call. */
export interface Trace {
  /** Begins a step that is to run. Never fails, because a trace must not break an attachment. */
  readonly begin: (step: TracedStep, running: RunningStep) => RecordedStep;
  /** Notes a decision about a step in the chain trace, also after the step's end. */
  readonly verdict: (step: ChainStep, verdict: StepVerdict) => void;
  /** Records the end of an attachment's chain for the call's observer. */
  readonly attachment: CallObserver["attachment"];
}

/** The outputs of a trace and its clock. */
export interface TraceInit {
  /** Path of the trace file; undefined if the configuration has none. */
  readonly path: string | undefined;
  readonly observer: CallObserver | undefined;
  /** The call's chain trace, which begins when the configuration is read; undefined: none. */
  readonly recording: { readonly recorder?: CallRecorder | undefined };
  /** The time of day. */
  readonly now: () => Date;
  /** Receives the first failure to write the file. */
  readonly warn: (text: string) => void;
}

/** Maximum bytes of the trace file. A longer file takes no more lines until the administrator rotates it. */
const maxBytes = 64 * 1024 * 1024;

/** Opens the trace of one call. Without a path and an observer it records nothing. */
export function openTrace({ path, observer, recording, now, warn }: TraceInit): Trace {
  const write = path === undefined ? undefined : fileTrace(path, now, warn);
  return {
    begin(step, running) {
      const { env } = running.step;
      const recorder = recording.recorder?.begin(step, running);
      // If no spans are recorded, the plugin keeps the caller's span: an unrecorded span would be a gap in the trace.
      const recorded = write !== undefined || observer?.span !== undefined;
      const parent = recorded ? parentOf(env) : undefined;
      const span = parent === undefined ? undefined : childOf(parent);
      return {
        env: span === undefined ? env : underSpan(env, span.context),
        recorder,
        end(ms, outcome) {
          recorder?.end(ms, outcome);
          write?.(step, ms, outcome, span);
          observer?.step(step, ms, outcome, span);
        },
      };
    },
    verdict: (step, verdict) => recording.recorder?.verdict(step, verdict),
    attachment: (attachment, ms, reason) => observer?.attachment(attachment, ms, reason),
  };
}

function parentOf(env: readonly EnvironmentPair[]): SpanContext | undefined {
  const text = env.find(([name]) => name === "TRACEPARENT")?.[1];
  return text === undefined ? undefined : parseTraceparent(text);
}

function childOf({ traceId, spanId, sampled }: SpanContext): Span {
  return { context: { traceId, spanId: newSpanId(), sampled }, parentId: spanId };
}

function fileTrace(path: string, now: () => Date, warn: (text: string) => void): CallObserver["step"] {
  let warned = false;
  return (step, ms, outcome, span) => {
    const line = {
      time: now().toISOString(),
      ...step,
      ms: Math.round(ms * 1000) / 1000,
      ...(span === undefined ? {} : { traceId: span.context.traceId, spanId: span.context.spanId, parentSpanId: span.parentId }),
      ...(outcome.ok ? { ok: true } : { ok: false, code: outcome.fault.code, msg: outcome.fault.msg }),
    };
    try {
      appendLines(path, `${JSON.stringify(line)}\n`, { maxBytes, foreign: false, create: true });
    } catch (error) {
      // A failed trace is only a warning: the pod keeps its network.
      if (!warned) warn(`trace file: ${error instanceof Error ? error.message : String(error)}; steps are missing in it`);
      warned = true;
    }
  };
}
