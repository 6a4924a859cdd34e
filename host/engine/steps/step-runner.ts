// Runs a step: finds its type on CNI_PATH, runs the native plugin or the component, and records time and trace.

import type { ChainStep, StepOutcome } from "../../../src/cni/chain-step.ts";
import type { Verb } from "../../../src/cni/environment.ts";
import type { RunStep } from "../../../src/cni/run-chain.ts";
import { grantsFor } from "../../../src/configuration/definition-policy.ts";
import { type Fault, fault } from "../../../src/fault/fault.ts";
import { isJsonObject, parseDocument } from "../../../src/json/document.ts";
import { delegatedPluginRefusal } from "../../../src/npwg/definition-plugins.ts";
import { withoutStepSecrets } from "../../../src/text/secret-values.ts";
import { callDepthFault, callersIn, withCallersIn } from "../../capabilities/delegation/callers.ts";
import type { RunningStep } from "../../capabilities/step.ts";
import type { StepRecorder } from "../../capabilities/step-detail.ts";
import type { StepKind } from "../events/call-events.ts";
import { isPlexusName, plexusTypeIn } from "../../../src/configuration/refuse-self.ts";
import type { CallResources } from "./call-resources.ts";
import { runNativeStep } from "./native-step.ts";
import { notFound } from "../call/plugin-finder.ts";

/** The values that all steps of one chain share. */
export type ChainContext = Pick<
  RunningStep,
  "origin" | "network" | "ifname" | "definition" | "knownContainers" | "ownLinks" | "timeoutMs"
>;

/** Makes the runner for the steps of one network's chain. */
export function stepRunner(resources: CallResources, chain: ChainContext): RunStep {
  const { trace, now } = resources;
  const { origin, network, ifname } = chain;
  const started = now();
  let verb: Verb | undefined;
  const run = (step: ChainStep): Promise<StepOutcome> => {
    // The first step names the chain's verb: a rule may run a step's DEL within an ADD.
    if (step.attachment !== undefined) verb ??= step.verb;
    const callers = origin === "nested-call" ? callersIn(step.env) : [];
    return runStep(resources, runningStep(resources, chain, step, callers, Infinity));
  };
  const ended = (failure: Fault | undefined): void => {
    if (verb !== undefined && origin === "chain") trace.attachment({ verb, network, ifname }, now() - started, failure);
  };
  return Object.assign(run, { ended });
}

function runningStep(
  resources: CallResources,
  chain: ChainContext,
  step: ChainStep,
  callers: readonly string[],
  maxMs: number,
): RunningStep {
  const { origin, network, ifname, definition, knownContainers, ownLinks, timeoutMs } = chain;
  const { type } = step.plugin;
  const grants = grantsFor(resources.configuration, definition, type);
  const runDelegated: RunningStep["runDelegated"] = (next, nextMaxMs) => {
    return runStep(resources, runningStep(resources, { ...chain, origin: "delegate" }, next, [...callers, type], nextMaxMs));
  };
  return {
    step,
    origin,
    network,
    ifname,
    definition,
    knownContainers,
    ownLinks,
    callers,
    grants,
    timeoutMs,
    maxMs,
    runDelegated,
  };
}

async function runStep(resources: CallResources, running: RunningStep): Promise<StepOutcome> {
  const { step, origin, callers } = running;
  const { type } = step.plugin;
  const isDelegated = origin === "delegate";
  const started = resources.now();
  const found = await (isDelegated ? (resources.delegatedPlugins ?? resources.plugins) : resources.plugins).find(type);
  const maxMs = Math.floor(Math.min(resources.deadline?.stepMs ?? Infinity, running.maxMs));
  const traced = async (
    kind: StepKind,
    execute: (step: ChainStep, recorder: StepRecorder | undefined) => Promise<StepOutcome>,
  ): Promise<StepOutcome> => {
    const { network, ifname } = running;
    const containerId = step.attachment?.containerId ?? "";
    const nested = origin !== "chain";
    const { env, recorder, end } = resources.trace.begin(
      { containerId, network, ifname, verb: step.verb, type, kind, nested },
      running,
    );
    if (recorder !== undefined && Number.isFinite(maxMs))
      recorder.verdict({ kind: "budget", text: `The step may take ${maxMs} ms.` });
    const ended = await execute(env === step.env ? step : { ...step, env }, recorder);
    // Every error of a step passes here, on its way to the runtime, logs, traces, events and the journal.
    const outcome = ended.ok ? ended : { ok: false as const, fault: withoutStepSecrets(ended.fault, step) };
    end(resources.now() - started, outcome);
    return outcome;
  };
  const refused = (kind: StepKind, reason: Fault): Promise<StepOutcome> =>
    traced(kind, async () => ({ ok: false, fault: reason }));

  // Less than one whole millisecond is no time for a plugin.
  if (found.what !== "nothing" && maxMs < 1)
    return refused(found.what === "native" ? "native" : "wasm", noTimeLeft(resources, running));
  // The capability `delegation` has checked the callers of a delegated step.
  const circular = isDelegated || callers.length === 0 ? undefined : callDepthFault(callers, type);
  if (circular !== undefined) return refused("wasm", circular);
  if (found.what === "component") {
    return traced("wasm", (tracedStep, recorder) =>
      resources.delegates.run({ ...running, step: tracedStep, maxMs, recorder }, found),
    );
  }
  if (found.what === "native" && (isDelegated || resources.componentsOnly !== true)) {
    const forbidden = isDelegated ? await delegatedCallFault(resources, running) : undefined;
    if (forbidden !== undefined) return refused("native", forbidden);
    return traced("native", (tracedStep, recorder) => {
      const withCallers = isDelegated ? { ...tracedStep, env: withCallersIn(tracedStep.env, [...callers, type]) } : tracedStep;
      return runNativeStep(resources, { step: withCallers, timeoutMs: running.timeoutMs, maxMs, recorder });
    });
  }
  return refused("native", notFound(type, cniPathOf(step), found.path));
}

function noTimeLeft({ deadline }: CallResources, { step, maxMs }: RunningStep): Fault {
  const why = maxMs < 1 ? "the calling delegate has used up its time" : `the call may take ${deadline?.totalMs} ms`;
  return fault("CALL_TIMEOUT", `there is no time left for plugin ${step.plugin.type}: ${why}`);
}

/**
 * The fault of a delegate that would call Plexus, directly or through a native plugin's configuration, or a native plugin that the
 * network's definition may not use.
 */
async function delegatedCallFault(
  { configuration, plugins, delegatedPlugins = plugins }: CallResources,
  { step: { plugin, stdin }, definition }: RunningStep,
): Promise<Fault | undefined> {
  const { type = "", definitions } = configuration;
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
  return delegatedPluginRefusal(definitions ?? { rules: [] }, definition, {
    type: plugin.type,
    configuration: parsed,
    isComponent,
  });
}

function ipamTypeIn({ ipam }: Readonly<Record<string, unknown>>): string | undefined {
  const type = isJsonObject(ipam) ? ipam["type"] : undefined;
  return typeof type === "string" ? type : undefined;
}

function cniPathOf(step: ChainStep): string {
  return new Map(step.env).get("CNI_PATH") ?? "";
}
