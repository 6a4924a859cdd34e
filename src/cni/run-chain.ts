// Drives a chain of the pure core: runs each step that it yields and hands the outcome back.

import type { Chain, ChainResult, ChainStep, StepOutcome } from "../../src/cni/chain-step.ts";
import type { Fault } from "../../src/fault/fault.ts";

export interface RunStep {
  (step: ChainStep): Promise<StepOutcome>;
  /** Hears how a chain of its steps ended. */
  readonly ended?: (fault: Fault | undefined) => void;
}

export async function runChain<T>(chain: Chain<T>, run: RunStep): Promise<ChainResult<T>> {
  let turn = chain.next();
  while (turn.done !== true) turn = chain.next(await run(turn.value));
  run.ended?.(turn.value.ok ? undefined : turn.value.fault);
  return turn.value;
}
