// Drives a chain: runs each step that the chain yields and resumes the chain with the step's outcome.

import type { Fault } from "../fault/fault.ts";
import type { Chain, ChainResult, ChainStep, StepOutcome } from "./chain-step.ts";

/** Runs one step. Never rejects for a plugin's failure: that is a fault of the outcome. */
export interface RunStep {
  (step: ChainStep): Promise<StepOutcome>;
  /** Receives the fault of a chain that ended, or undefined if the chain succeeded. */
  readonly ended?: (fault: Fault | undefined) => void;
}

/** Runs the steps of `chain` one after the other. Answers the chain's own result. */
export async function runChain<T>(chain: Chain<T>, run: RunStep): Promise<ChainResult<T>> {
  let turn = chain.next();
  while (turn.done !== true) turn = chain.next(await run(turn.value));
  run.ended?.(turn.value.ok ? undefined : turn.value.fault);
  return turn.value;
}
