// Runs one step: finds its type on CNI_PATH, and runs the native plugin or the component, traced: the call's subscribers are told of its beginning
// and its end. If one of them records spans, the step has a span of its own, and the plugin's TRACEPARENT names that span (W3C Trace Context). `chainRunner` puts the
// shadow of a step and the administrator's rules around that for all steps of a chain.

import type { ChainStep, StepOutcome } from "../../../src/cni/chain-step.ts";
import type { RunStep } from "../../../src/cni/chains.ts";
import type { EnvironmentPair, Verb } from "../../../src/cni/environment.ts";
import { grantsFor, stepRulesFor, isPlexusName, plexusTypeIn } from "../../../src/configuration/definition-policy.ts";
import type { StepRules } from "../../../src/configuration/step-rules.ts";
import { type Fault, fault } from "../../../src/fault/fault.ts";
import { isJsonObject, parseDocument } from "../../../src/json/document.ts";
import { delegatedPluginRefusal } from "../../../src/npwg/definition-plugins.ts";
import { withoutStepSecrets } from "../../../src/text/secret-values.ts";
import { parseTraceparent, underSpan } from "../../../src/trace/trace-context.ts";
import { callDepthFault, callersIn, withCallersIn } from "../../capabilities/delegation/callers.ts";
import type { Step, StepTerms } from "../../capabilities/step.ts";
import { newSpanId } from "../../system/ids.ts";
import type { Call, ChainIdentity } from "../call.ts";
import { notFound } from "../call/plugin-finder.ts";
import type { Span, StepKind } from "../events/call-events.ts";
import { runNativeStep } from "./native-step.ts";
import { ruled } from "./ruled-steps.ts";

/** Makes the runner for the steps of one network's chain, each as it is: without rules and shadows. */
export function stepRunner(call: Call, chain: ChainIdentity, asked: StepTerms): RunStep {
  const { events, clock } = call;
  const { origin } = asked;
  const { network, ifname } = chain;
  const started = clock.now();
  let verb: Verb | undefined;
  const run = (step: ChainStep): Promise<StepOutcome> => {
    // The first step names the chain's verb: a rule may run a step's DEL within an ADD.
    if (step.attachment !== undefined) verb ??= step.verb;
    const callers = origin === "nested-call" ? callersIn(step.env) : [];
    return runStep(call, stepOf(call, chain, asked, step, callers, Infinity));
  };
  const ended = (reason: Fault | undefined): void => {
    if (verb === undefined || origin !== "chain") return;
    events.tell({ what: "chain-ended", verb, network, ifname, ms: clock.now() - started, fault: reason });
  };
  return Object.assign(run, { ended });
}

function stepOf(
  call: Call,
  chain: ChainIdentity,
  { origin, timeoutMs }: StepTerms,
  step: ChainStep,
  callers: readonly string[],
  maxMs: number,
): Step {
  const { type } = step.plugin;
  const { network, ifname, definition, knownContainers, ownLinks, onConflict, onPoolLease } = chain;
  return {
    step,
    origin,
    network,
    ifname,
    definition,
    knownContainers,
    ownLinks,
    onPoolLease,
    timeoutMs,
    callers,
    grants: grantsFor(call.configuration, chain.definition, type),
    maxMs,
    onConflict: (conflict) => {
      call.events.tell({ what: "address-conflict", network, ifname, ...conflict });
      onConflict?.(conflict);
    },
    runDelegated: (next, nextMaxMs) =>
      runStep(call, stepOf(call, chain, { origin: "delegate", timeoutMs }, next, [...callers, type], nextMaxMs)),
  };
}

async function runStep(call: Call, asked: Step): Promise<StepOutcome> {
  const { origin, callers } = asked;
  const { type } = asked.step.plugin;
  const isDelegated = origin === "delegate";
  const started = call.clock.now();
  const found = await (isDelegated ? call.delegatedPlugins : call.plugins).find(type);
  const step = { ...asked, maxMs: Math.floor(Math.min(call.deadline.stepMs, asked.maxMs)) };
  const refused = (kind: StepKind, reason: Fault): Promise<StepOutcome> =>
    traced(call, step, kind, started, async () => ({ ok: false, fault: reason }));

  // Less than one whole millisecond is no time for a plugin.
  if (found.what !== "nothing" && step.maxMs < 1)
    return refused(found.what === "native" ? "native" : "wasm", noTimeLeft(call, asked));
  // The capability `delegation` has checked the callers of a delegated step.
  const circular = isDelegated || callers.length === 0 ? undefined : callDepthFault(callers, type);
  if (circular !== undefined) return refused("wasm", circular);
  if (found.what === "component") return traced(call, step, "wasm", started, (running) => call.delegates.run(running, found));
  if (found.what === "native" && (isDelegated || !call.componentsOnly)) {
    const forbidden = isDelegated ? await delegatedCallFault(call, step) : undefined;
    if (forbidden !== undefined) return refused("native", forbidden);
    return traced(call, step, "native", started, (running) =>
      runNativeStep(call, isDelegated ? namingCallers(running, type) : running),
    );
  }
  return refused("native", notFound(type, new Map(asked.step.env).get("CNI_PATH") ?? "", found.path));
}

/** The step with its callers in its environment, where a nested call finds them. */
function namingCallers(running: Step, type: string): Step {
  const { step, callers } = running;
  return { ...running, step: { ...step, env: withCallersIn(step.env, [...callers, type]) } };
}

function noTimeLeft({ deadline }: Call, { step, maxMs }: Step): Fault {
  const why = maxMs < 1 ? "the calling delegate has used up its time" : `the call may take ${deadline.totalMs} ms`;
  return fault("CALL_TIMEOUT", `there is no time left for plugin ${step.plugin.type}: ${why}`);
}

/**
 * The fault of a delegate that would call Plexus, directly or through a native plugin's configuration, or a native plugin that the
 * network's definition may not use.
 */
export async function delegatedCallFault(
  { configuration, delegatedPlugins }: Call,
  { step: { plugin, stdin }, definition }: Step,
): Promise<Fault | undefined> {
  const { type, definitions } = configuration;
  const document = parseDocument(stdin, { what: `configuration for plugin ${plugin.type}` });
  if (!document.ok) return document.fault;
  const { parsed } = document.value;
  const plexusType = isPlexusName(plugin.type, { type }) ? plugin.type : plexusTypeIn(parsed, { type });
  if (plexusType !== undefined)
    return fault("CONFIG_INVALID", `type "${plexusType}" can't be called by a delegate: it would be plexus itself`);
  if (definition === undefined) return undefined;
  const ipamType = ipamTypeIn(parsed);
  const isIpamComponent = ipamType !== undefined && (await delegatedPlugins.find(ipamType)).what === "component";
  const isComponent = (each: string): boolean => each === ipamType && isIpamComponent;
  return delegatedPluginRefusal(definitions, definition, { type: plugin.type, configuration: parsed, isComponent });
}

function ipamTypeIn({ ipam }: Readonly<Record<string, unknown>>): string | undefined {
  const type = isJsonObject(ipam) ? ipam["type"] : undefined;
  return typeof type === "string" ? type : undefined;
}

/** Runs a step of this kind, and tells its beginning and its end. `started`: when the look-up of its plugin began, by the call's clock. `run` gets the step with its span and with the way to tell details. */
async function traced(
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

/**
 * Makes the runner of a chain's steps. It reads from the inside: each step is native or a component, traced; after a native step its shadow runs; around both the
 * administrator's rules decide about a failure. Without rules the chain has the inner part only.
 *
 *     ruled( shadowed( traced( native | component )))
 *
 * A native plugin may take `maxMs` milliseconds, if that is less than configured.
 */
export function chainRunner(call: Call, chain: ChainIdentity, maxMs = Infinity): RunStep {
  const plain = stepRunner(call, chain, { origin: "chain", timeoutMs: Math.min(call.configuration.stepTimeoutMs, maxMs) });
  const rules = stepRulesFor(call.configuration, chain.definition);
  if (rules === undefined) return plain;
  return ruled(call, chain, rules, shadowed(call, chain, rules, plain));
}

/** The runner `run`, and after a native step its shadow; `run` itself if no rule has a shadow: then no module of shadows is loaded. */
function shadowed(call: Call, chain: ChainIdentity, rules: StepRules, run: RunStep): RunStep {
  if (!Object.values(rules).some(({ shadow }) => shadow !== undefined)) return run;
  const runShadowed = async (step: ChainStep): Promise<StepOutcome> => {
    const { runWithShadow } = await import("./shadow.ts");
    return runWithShadow(call, chain, rules, { run, step });
  };
  return run.ended === undefined ? runShadowed : Object.assign(runShadowed, { ended: run.ended });
}
