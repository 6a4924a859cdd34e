// Makes the runner of one chain's steps: without rules the step runner itself, otherwise with failure policies and shadows.

import type { StepOutcome, ChainStep } from "../../../src/cni/chain-step.ts";
import type { RunStep } from "../../../src/cni/run-chain.ts";
import { grantsFor } from "../../../src/configuration/definition-policy.ts";
import { stepRulesFor } from "../../../src/configuration/network-step-rules.ts";
import type { StepRules } from "../../../src/configuration/step-rules.ts";
import type { ChainIdentity } from "../call/call-context.ts";
import type { CallDeadline } from "../call/call-deadline.ts";
import type { CallObserver } from "../events/call-events.ts";
import type { CallResources } from "./call-resources.ts";
import { runByRules } from "./rule-runner.ts";
import { type StepReports, stepReports } from "./step-reports.ts";
import { stepRunner } from "./step-runner.ts";

/** The call of a chain, as far as rules need it. */
export interface ChainRunnerInit {
  readonly resources: CallResources;
  readonly deadline: Pick<CallDeadline, "stepMs">;
  readonly observer: CallObserver | undefined;
  readonly warn: (text: string) => void;
}

/** Makes the runner of a chain. `timeoutMs`: maximum milliseconds of a native plugin. */
export function chainRunner(init: ChainRunnerInit, chain: ChainIdentity, timeoutMs: number): RunStep {
  const { resources, deadline, observer, warn } = init;
  const { network, ifname, definition, knownContainers, ownLinks, isNameTaken, onPassedOver } = chain;
  const run = stepRunner(resources, { origin: "chain", network, ifname, definition, knownContainers, ownLinks, timeoutMs });
  const rules = stepRulesFor(resources.configuration, definition);
  if (rules === undefined) return run;
  const reports = stepReports({ network, ifname, observer, trace: resources.trace, warn });
  const shadowed = hasShadows(rules) ? withShadows({ init, chain, rules, report: reports.shadow }, run) : run;
  return runByRules({
    rules,
    run: shadowed,
    reports,
    deadline,
    pause,
    isNameTaken: isNameTaken === true,
    ...(onPassedOver === undefined ? {} : { onPassedOver }),
  });
}

function hasShadows(rules: StepRules): boolean {
  return Object.values(rules).some(({ shadow }) => shadow !== undefined);
}

interface ShadowedChain {
  readonly init: ChainRunnerInit;
  readonly chain: ChainIdentity;
  readonly rules: StepRules;
  readonly report: StepReports["shadow"];
}

/** The runner with shadows. Its modules are loaded for the first step: most configurations have no shadow. */
function withShadows({ init: { resources, deadline }, chain, rules, report }: ShadowedChain, run: RunStep): RunStep {
  const { network, ifname, definition } = chain;
  const { configuration, plugins, shim, delegates } = resources;
  const grantsOf = (type: string) => grantsFor(configuration, definition, type);
  const terms = { rules, run, network, ifname, definition, grantsOf, plugins, shim, delegates, deadline, report };
  const runShadowed = async (step: ChainStep): Promise<StepOutcome> => {
    const { runWithShadows } = await import("./shadow-runner.ts");
    return runWithShadows(terms)(step);
  };
  return run.ended === undefined ? runShadowed : Object.assign(runShadowed, { ended: run.ended });
}

function pause(ms: number): Promise<void> {
  const { setTimeout } = process.getBuiltinModule("node:timers/promises");
  return setTimeout(ms);
}
