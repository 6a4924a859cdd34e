// What is told of a step: one line of JSON in the file that `trace` names, for people who ask what ran, as what, how long, and how it
// ended; and the same to whoever watches the call. Where it is recorded, a step has a span of its own, which its plugin is called under.

import type { EnvironmentPair } from "../../src/cni/environment.ts";
import type { StepOutcome } from "../../src/cni/chain-step.ts";
import { parseTraceparent, type SpanContext, underSpan } from "../../src/trace/trace-context.ts";
import { appendLines } from "../files/regular-file.ts";
import type { CallObserver, Span, TracedStep } from "./call-observer.ts";
import { newSpanId } from "./span-id.ts";

/** A step that is under way. */
export interface WatchedStep {
  /** The environment to call it with. */
  readonly env: readonly EnvironmentPair[];
  readonly end: (ms: number, outcome: StepOutcome) => void;
}

export interface Trace {
  /** Notes a step that is about to run with this environment. Never fails: a trace must not break an attachment. */
  readonly begin: (step: TracedStep, env: readonly EnvironmentPair[]) => WatchedStep;
  /** As `CallObserver.attachment`. */
  readonly attachment: CallObserver["attachment"];
}

export interface TraceInit {
  /** The file; undefined: none. */
  readonly path: string | undefined;
  readonly observer: CallObserver | undefined;
  readonly now: () => Date;
  /** Hears once a call why the file can't be written. */
  readonly warn: (text: string) => void;
}

/** A trace that is longer waits for the administrator to move it away. */
const mostBytes = 64 * 1024 * 1024;

export function openTrace({ path, observer, now, warn }: TraceInit): Trace {
  if (path === undefined && observer === undefined) {
    return { begin: (_, env) => ({ env, end: () => undefined }), attachment: () => undefined };
  }
  const write = path === undefined ? undefined : fileTrace(path, now, warn);
  return {
    begin(step, env) {
      // Without a record of it a span of ours would be a hole in somebody's trace: the plugin goes on under the caller's then.
      const recorded = write !== undefined || observer?.span !== undefined;
      const parent = recorded ? parentOf(env) : undefined;
      const span = parent === undefined ? undefined : childOf(parent);
      return {
        env: span === undefined ? env : underSpan(env, span.context),
        end(ms, outcome) {
          write?.(step, ms, outcome, span);
          observer?.step(step, ms, outcome, span);
        },
      };
    },
    attachment: (...told) => observer?.attachment(...told),
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
      appendLines(path, `${JSON.stringify(line)}\n`, { most: mostBytes, foreign: false, create: true });
    } catch (error) {
      // The pod keeps its network.
      if (!warned) warn(`no trace: ${error instanceof Error ? error.message : String(error)}`);
      warned = true;
    }
  };
}
