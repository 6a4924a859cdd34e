// Runs a step as what its type turns out to be: looked up on CNI_PATH, native or component (design: "How a type finds its
// plugin"), timed and traced.

import type { ChainStep, StepOutcome } from "../../src/cni/chain-step.ts";
import type { Verb } from "../../src/cni/environment.ts";
import type { HostConfiguration } from "../../src/configuration/host-configuration.ts";
import { type Fault, fault } from "../../src/fault/fault.ts";
import type { Result } from "../../src/fault/result.ts";
import type { Hands } from "../hands/hands.ts";
import type { Found } from "../hands/messages.ts";
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
  readonly run: (configuration: Grants, step: ChainStep, file: ComponentFile, mostMs?: number) => Promise<StepOutcome>;
  /** Whether the component could be run for a step of this type: admitted, and all that it imports granted. */
  readonly admit: (configuration: Grants, type: string, file: ComponentFile) => Promise<Result<void>>;
}

export interface StepRunnerDeps {
  readonly hands: Hands;
  readonly plugins: Pick<PluginFinder, "find">;
  readonly delegates: DelegateRunner;
  readonly trace: Trace;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
}

export interface StepRunnerInit {
  readonly configuration: Pick<HostConfiguration, "wasm" | "stepTimeoutMs">;
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

/** A runner of steps of one network's chain. */
export function stepRunner(deps: StepRunnerDeps, init: StepRunnerInit): RunStep {
  const { hands, plugins, delegates, trace, now } = deps;
  const { configuration, nest, network, ifname, nested } = init;
  const begun = now();
  let verb: Verb | undefined;
  const run = async (step: ChainStep): Promise<StepOutcome> => {
    const started = now();
    const { type } = step.plugin;
    if (step.attachment !== undefined) verb = step.verb;
    const found = await plugins.find(type);
    const watched = async (kind: StepKind, act: (step: ChainStep) => Promise<StepOutcome>): Promise<StepOutcome> => {
      const containerId = step.attachment?.containerId ?? "";
      const { env, end } = trace.begin({ containerId, network, ifname, verb: step.verb, type, kind, nested }, step.env);
      const outcome = await act(env === step.env ? step : { ...step, env });
      end(now() - started, outcome);
      return outcome;
    };
    // Whole milliseconds: less than one would not be enough for anything.
    const callMs = Math.floor(init.deadline?.stepMs ?? Infinity);
    if (found.what !== "nothing" && callMs < 1) {
      const why = `there is no time left for plugin ${type}: the call may take ${init.deadline?.totalMs} ms`;
      return watched(found.what === "native" ? "native" : "wasm", async () => ({ ok: false, fault: fault("CALL_TIMEOUT", why) }));
    }
    if (found.what === "component") return watched("wasm", (traced) => delegates.run(configuration, traced, found, callMs));
    if (found.what === "native" && init.componentOnly !== true) {
      const { stepTimeoutMs } = configuration;
      const terms = { deadlineMs: Math.min(stepTimeoutMs, callMs), ofCall: callMs < stepTimeoutMs, nest };
      return watched("native", (traced) => runNativeStep(hands, traced, terms));
    }
    return watched("native", async () => ({ ok: false, fault: notFound(type, pathOf(step)) }));
  };
  const ended = (failure: Fault | undefined): void => {
    if (verb !== undefined && !nested) trace.attachment({ verb, network, ifname }, now() - begun, failure);
  };
  return Object.assign(run, { ended });
}

function pathOf(step: ChainStep): string {
  return new Map(step.env).get("CNI_PATH") ?? "";
}
