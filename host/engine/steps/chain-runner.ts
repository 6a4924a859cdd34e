// Makes the runner of one chain's steps. It reads from the inside: each step is native or a component, traced; after a native step its shadow runs;
// around both the administrator's rules decide about a failure. Without rules the chain has the inner part only.
//
//   ruled( shadowed( traced( native | component )))

import type { ChainStep, StepOutcome } from "../../../src/cni/chain-step.ts";
import type { RunStep } from "../../../src/cni/chains.ts";
import { stepRulesFor } from "../../../src/configuration/definition-policy.ts";
import type { StepRules } from "../../../src/configuration/step-rules.ts";
import type { Call, ChainIdentity } from "../call.ts";
import { ruled } from "./ruled-steps.ts";
import { stepRunner } from "./step-runner.ts";

/** Makes the runner of a chain. A native plugin may take `maxMs` milliseconds, if that is less than configured. */
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
