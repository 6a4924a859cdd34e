// W3C Trace Context in a plugin's environment, as runtimes and libcni hand it on (L-64): TRACEPARENT says under which span this call
// was made, TRACESTATE and BAGGAGE go with it. What is malformed counts as absent, and never makes anything fail.

import type { EnvironmentPair } from "../cni/environment.ts";

/** Where a span belongs: its trace, itself, and whether anybody records the trace. */
export interface SpanContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  readonly sampled: boolean;
}

/** The variables, in the order in which libcni appends them. */
export const traceVariables = ["TRACEPARENT", "TRACESTATE", "BAGGAGE"] as const;

/** What vendors promise to carry (W3C Trace Context 3.3.1.5, Baggage 3.3.2). */
const longestState = 512;
const longestBaggage = 8192;

/** Reads a traceparent (W3C Trace Context 3.2); of a later version what version 00 has. Undefined for what is none. */
export function parseTraceparent(text: string): SpanContext | undefined {
  const [, version, traceId, spanId, flags = "", rest] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/.exec(text) ?? [];
  if (version === undefined || traceId === undefined || spanId === undefined) return undefined;
  if (version === "ff" || (version === "00" && rest !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export function printTraceparent({ traceId, spanId, sampled }: SpanContext): string {
  return `00-${traceId}-${spanId}-${sampled ? "01" : "00"}`;
}

/** The span under which whoever has this environment was called. */
export function spanOf(environment: ReadonlyMap<string, string>): SpanContext | undefined {
  const text = environment.get("TRACEPARENT");
  return text === undefined ? undefined : parseTraceparent(text);
}

/**
 * The environment of a call with the trace context that it goes on with: under `span` where there is one, else as it came. Without a
 * valid span nothing of it is handed on, for a state or baggage that is left over belongs to some other trace.
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
  if (spanOf(environment)?.traceId === span.traceId && isText(state, longestState)) changed.set("TRACESTATE", state);
  const baggage = environment.get("BAGGAGE") ?? "";
  if (isText(baggage, longestBaggage)) changed.set("BAGGAGE", baggage);
  return changed;
}

/** A step's environment under a span of its own. */
export function underSpan(environment: readonly EnvironmentPair[], span: SpanContext): readonly EnvironmentPair[] {
  const traceparent = ["TRACEPARENT", printTraceparent(span)] as const;
  return [...environment.filter(([name]) => name !== "TRACEPARENT"), traceparent];
}

function isText(text: string, most: number): boolean {
  return text.length <= most && /^[\t\x20-\x7e]+$/.test(text);
}
