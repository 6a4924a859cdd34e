// Runs the shadow of a native step after it, where a rule names one. Most configurations have no shadow, so its modules are loaded for the first.

import type { ChainStep, StepOutcome } from "../../../src/cni/chain-step.ts";
import type { RunStep } from "../../../src/cni/run-chain.ts";
import type { StepRules } from "../../../src/configuration/step-rules.ts";
import type { CallContext, ChainIdentity } from "../call/call-context.ts";

/** The runner `run`, and after a native step its shadow; `run` itself if no rule has a shadow. */
export function shadowed(call: CallContext, chain: ChainIdentity, rules: StepRules, run: RunStep): RunStep {
  if (!Object.values(rules).some(({ shadow }) => shadow !== undefined)) return run;
  const runShadowed = async (step: ChainStep): Promise<StepOutcome> => {
    const { runWithShadow } = await import("./shadow.ts");
    return runWithShadow(call, chain, rules, { run, step });
  };
  return run.ended === undefined ? runShadowed : Object.assign(runShadowed, { ended: run.ended });
}
