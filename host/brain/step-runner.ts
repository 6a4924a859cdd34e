// Runs a step as what its type turns out to be: looked up on CNI_PATH, native or component (design: "How a type finds its
// plugin"), timed and traced.

import type { ChainStep, StepOutcome } from "../../src/cni/chain-step.ts";
import type { Verb } from "../../src/cni/environment.ts";
import type { HostConfiguration } from "../../src/configuration/host-configuration.ts";
import { type Fault, fault } from "../../src/fault/fault.ts";
import type { Result } from "../../src/fault/result.ts";
import type { Hands } from "../hands/hands.ts";
import type { Found } from "../hands/messages.ts";
import { parseDocument } from "../../src/json/document.ts";
import { callersIn, endless, toldCallers } from "../delegation/callers.ts";
import { isItself, itselfIn } from "./itself.ts";
import { runNativeStep } from "./native-step.ts";
import type { CallDeadline } from "./call-deadline.ts";
import { notFound, type PluginFinder } from "./plugin-finder.ts";
import type { RunStep } from "./run-chain.ts";
import type { StepKind } from "./call-observer.ts";
import type { Trace } from "./trace.ts";

/** A component's file as the hands found it. */
export type ComponentFile = Pick<Found, "path" | "identity">;

type Grants = Pick<HostConfiguration, "wasm">;

/** Runs steps in components. */
export interface DelegateRunner {
  readonly run: (configuration: Grants, step: ChainStep, file: ComponentFile, terms: DelegateTerms) => Promise<StepOutcome>;
  /** Whether the component could be run for a step of this type: admitted, and all that it imports granted. */
  readonly admit: (configuration: Grants, type: string, file: ComponentFile) => Promise<Result<void>>;
}

/** On what terms a step runs in a component. */
export interface DelegateTerms {
  /** Milliseconds that the call has for it. */
  readonly mostMs: number;
  /** The types that called one another up to here, the step's own last. */
  readonly callers: readonly string[];
  /** Milliseconds that a plugin which the delegate calls may take. */
  readonly stepTimeoutMs: number;
  /** Runs a step that the delegate asks for, for at most `mostMs` milliseconds. */
  readonly another: (step: ChainStep, mostMs: number) => Promise<StepOutcome>;
}

export interface StepRunnerDeps {
  readonly hands: Hands;
  readonly plugins: Pick<PluginFinder, "find">;
  /** Finds the plugins that delegates call; as `plugins` unless given. */
  readonly delegated?: Pick<PluginFinder, "find">;
  readonly delegates: DelegateRunner;
  readonly trace: Trace;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
}

export interface StepRunnerInit {
  readonly configuration: Pick<HostConfiguration, "wasm" | "stepTimeoutMs" | "goMaxProcs"> &
    Partial<Pick<HostConfiguration, "type">>;
  /** Milliseconds that the call has for a step when it begins; a nested call's are its parent's. */
  readonly deadline?: Pick<CallDeadline, "stepMs" | "totalMs">;
  /** Directory for the nested calls of native steps. */
  readonly nest: string;
  readonly network: string;
  readonly ifname: string;
  /** True for the step that is itself a nested call. */
  readonly nested: boolean;
  /** True: only a component will do, because the native binary of that name is the one that called us. */
  readonly componentOnly?: boolean;
}

/** One step among others that it is called by, and in what time. */
interface Within {
  /** The types that called one another up to it, its own not among them; undefined: it is a step of a chain. */
  readonly callers: readonly string[] | undefined;
  readonly mostMs: number;
}

/** A runner of steps of one network's chain. */
export function stepRunner(deps: StepRunnerDeps, init: StepRunnerInit): RunStep {
  const { trace, now } = deps;
  const { network, ifname, nested } = init;
  const begun = now();
  let verb: Verb | undefined;
  const run = (step: ChainStep): Promise<StepOutcome> => {
    if (step.attachment !== undefined) verb = step.verb;
    return runStep(deps, init, step, { callers: undefined, mostMs: Infinity });
  };
  const ended = (failure: Fault | undefined): void => {
    if (verb !== undefined && !nested) trace.attachment({ verb, network, ifname }, now() - begun, failure);
  };
  return Object.assign(run, { ended });
}

async function runStep(deps: StepRunnerDeps, init: StepRunnerInit, step: ChainStep, within: Within): Promise<StepOutcome> {
  const { hands, plugins, delegates, trace, now } = deps;
  const { configuration, nest, network, ifname } = init;
  const { type } = step.plugin;
  const started = now();
  const called = within.callers !== undefined;
  const found = await (called ? (deps.delegated ?? plugins) : plugins).find(type);
  const watched = async (kind: StepKind, act: (step: ChainStep) => Promise<StepOutcome>): Promise<StepOutcome> => {
    const containerId = step.attachment?.containerId ?? "";
    const nested = init.nested || called;
    const { env, end } = trace.begin({ containerId, network, ifname, verb: step.verb, type, kind, nested }, step.env);
    const outcome = await act(env === step.env ? step : { ...step, env });
    end(now() - started, outcome);
    return outcome;
  };
  // Whole milliseconds: less than one would not be enough for anything.
  const callMs = Math.floor(Math.min(init.deadline?.stepMs ?? Infinity, within.mostMs));
  if (found.what !== "nothing" && callMs < 1) {
    const whose =
      within.mostMs < 1 ? "the delegate that calls it has used up its time" : `the call may take ${init.deadline?.totalMs} ms`;
    const why = `there is no time left for plugin ${type}: ${whose}`;
    return watched(found.what === "native" ? "native" : "wasm", async () => ({ ok: false, fault: fault("CALL_TIMEOUT", why) }));
  }
  const before = within.callers ?? (init.nested ? callersIn(step.env) : []);
  // A delegate's own calls are looked at before they come here.
  const refusal = called || before.length === 0 ? undefined : endless(before, type);
  if (refusal !== undefined) return watched("wasm", async () => ({ ok: false, fault: refusal }));
  const callers = [...before, type];
  const { stepTimeoutMs, goMaxProcs } = configuration;
  if (found.what === "component") {
    const another = (next: ChainStep, mostMs: number): Promise<StepOutcome> => runStep(deps, init, next, { callers, mostMs });
    const terms = { mostMs: callMs, callers, stepTimeoutMs, another };
    return watched("wasm", (traced) => delegates.run(configuration, traced, found, terms));
  }
  if (found.what === "native" && (called || init.componentOnly !== true)) {
    const itself = called ? itselfCalled(step, configuration) : undefined;
    if (itself !== undefined) return watched("native", async () => ({ ok: false, fault: itself }));
    const terms = { deadlineMs: Math.min(stepTimeoutMs, callMs), ofCall: callMs < stepTimeoutMs, nest, goMaxProcs };
    return watched("native", (traced) =>
      runNativeStep(hands, called ? { ...traced, env: toldCallers(traced.env, callers) } : traced, terms),
    );
  }
  return watched("native", async () => ({ ok: false, fault: notFound(type, pathOf(step), found.path) }));
}

/** A delegate's configuration must not have a native plugin call Plexus, nor may the delegate do it itself. */
function itselfCalled({ plugin, stdin }: ChainStep, { type = "" }: StepRunnerInit["configuration"]): Fault | undefined {
  const document = parseDocument(stdin, { what: `configuration for plugin ${plugin.type}` });
  if (!document.ok) return document.fault;
  const itself = isItself(plugin.type, { type }) ? plugin.type : itselfIn(document.value.parsed, { type });
  return itself === undefined
    ? undefined
    : fault("CONFIG_INVALID", `type "${itself}" can't be called by a delegate: it would be plexus itself`);
}

function pathOf(step: ChainStep): string {
  return new Map(step.env).get("CNI_PATH") ?? "";
}
