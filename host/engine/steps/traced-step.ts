// Tells the beginning and the end of a step to the call's subscribers. If one of them records spans, the step has a span of its own, and the
// plugin's TRACEPARENT names that span (W3C Trace Context).

import type { EnvironmentPair } from "../../../src/cni/environment.ts";
import type { StepOutcome } from "../../../src/cni/chain-step.ts";
import { withoutStepSecrets } from "../../../src/text/secret-values.ts";
import { parseTraceparent, underSpan } from "../../../src/trace/trace-context.ts";
import type { Step } from "../../capabilities/step.ts";
import type { Call } from "../call.ts";
import type { Span, StepKind } from "../events/call-events.ts";
import { newSpanId } from "../../system/span-id.ts";

/** Runs a step of this kind, and tells its beginning and its end. `started`: when the look-up of its plugin began, by the call's clock. `run` gets the step with its span and with the way to tell details. */
export async function traced(
  { events, clock }: Call,
  step: Step,
  kind: StepKind,
  started: number,
  run: (step: Step) => Promise<StepOutcome>,
): Promise<StepOutcome> {
  const { network, ifname, origin, step: plugin, maxMs } = step;
  const number = events.nextRun();
  const tell: Step["tell"] = events.recordsDetails
    ? (detail) => events.tell({ what: "step-detail", run: number, detail })
    : undefined;
  // If no spans are recorded, the plugin keeps the caller's span: an unrecorded span would be a gap in the trace.
  const span = events.recordsSpans ? spanBelow(plugin.env) : undefined;
  const env = span === undefined ? plugin.env : underSpan(plugin.env, span.context);
  events.tell({ what: "step-began", run: number, kind, step });
  if (tell !== undefined && Number.isFinite(maxMs))
    tell({ what: "decided", verdict: { kind: "budget", text: `The step may take ${maxMs} ms.` } });
  const ended = await run(span === undefined && tell === undefined ? step : { ...step, tell, step: { ...plugin, env } });
  // Every error of a step passes here, on its way to the runtime, logs, traces, Events and the journal.
  const outcome = ended.ok ? ended : { ok: false as const, fault: withoutStepSecrets(ended.fault, plugin) };
  const identity = {
    containerId: plugin.attachment?.containerId ?? "",
    network,
    ifname,
    verb: plugin.verb,
    type: plugin.plugin.type,
    kind,
    nested: origin !== "chain",
  };
  events.tell({ what: "step-ended", run: number, step: identity, ms: clock.now() - started, outcome, span });
  return outcome;
}

/** A new span below the one that the environment names; undefined if it names none. */
function spanBelow(env: readonly EnvironmentPair[]): Span | undefined {
  const text = env.find(([name]) => name === "TRACEPARENT")?.[1];
  const parent = text === undefined ? undefined : parseTraceparent(text);
  if (parent === undefined) return undefined;
  const { traceId, spanId, sampled } = parent;
  return { context: { traceId, spanId: newSpanId(), sampled }, parentId: spanId };
}
