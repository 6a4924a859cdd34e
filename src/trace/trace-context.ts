// W3C Trace Context in a plugin's environment, as runtimes and libcni pass it (L-64): TRACEPARENT names the parent span of this
// call; TRACESTATE and BAGGAGE accompany it. A malformed value counts as absent and never fails a call.

import type { EnvironmentPair } from "../cni/environment.ts";

/** A span's identity, its trace, and whether the trace is recorded. */
export interface SpanContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  readonly sampled: boolean;
}

/** The variables, in the order in which libcni appends them. */
export const traceVariables = ["TRACEPARENT", "TRACESTATE", "BAGGAGE"] as const;

/** Lengths that vendors must at least propagate (W3C Trace Context 3.3.1.5, Baggage 3.3.2). */
const maxStateLength = 512;
const maxBaggageLength = 8192;

/** Reads a traceparent (W3C Trace Context 3.2); of a later version, the fields of version 00. Undefined if malformed. */
export function parseTraceparent(text: string): SpanContext | undefined {
  const [, version, traceId, spanId, flags = "", rest] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/.exec(text) ?? [];
  if (version === undefined || traceId === undefined || spanId === undefined) return undefined;
  if (version === "ff" || (version === "00" && rest !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** A traceparent of version 00. */
export function printTraceparent({ traceId, spanId, sampled }: SpanContext): string {
  return `00-${traceId}-${spanId}-${sampled ? "01" : "00"}`;
}

/** The parent span in this environment. */
export function spanOf(environment: ReadonlyMap<string, string>): SpanContext | undefined {
  const text = environment.get("TRACEPARENT");
  return text === undefined ? undefined : parseTraceparent(text);
}

/**
 * The environment of a call with the trace context for its callees: `span` as parent, or the caller's own. Without a valid span
 * all three variables are removed: a leftover state or baggage belongs to another trace.
 */
export function traceEnvironment(
  environment: ReadonlyMap<string, string>,
  span: SpanContext | undefined = spanOf(environment),
): ReadonlyMap<string, string> {
  if (span === undefined && !traceVariables.some((name) => environment.has(name))) return environment;
  const changed = new Map(environment);
  for (const name of traceVariables) changed.delete(name);
  if (span === undefined) return changed;
  changed.set("TRACEPARENT", printTraceparent(span));
  const state = environment.get("TRACESTATE") ?? "";
  // A state belongs to its traceparent: a trace that begins here has none.
  if (spanOf(environment)?.traceId === span.traceId && isText(state, maxStateLength)) changed.set("TRACESTATE", state);
  const baggage = environment.get("BAGGAGE") ?? "";
  if (isText(baggage, maxBaggageLength)) changed.set("BAGGAGE", baggage);
  return changed;
}

/** A step's environment with the step's own span as parent. */
export function underSpan(environment: readonly EnvironmentPair[], span: SpanContext): readonly EnvironmentPair[] {
  const traceparent = ["TRACEPARENT", printTraceparent(span)] as const;
  return [...environment.filter(([name]) => name !== "TRACEPARENT"), traceparent];
}

function isText(text: string, maxLength: number): boolean {
  return text.length <= maxLength && /^[\t\x20-\x7e]+$/.test(text);
}
