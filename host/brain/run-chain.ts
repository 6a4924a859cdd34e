// Drives a chain of the pure core: runs each step that it yields and hands the outcome back.

import type { Chain, ChainResult, ChainStep, StepOutcome } from "../../src/cni/chain-step.ts";

export type RunStep = (step: ChainStep) => Promise<StepOutcome>;

export async function runChain<T>(chain: Chain<T>, run: RunStep): Promise<ChainResult<T>> {
  let turn = chain.next();
  while (turn.done !== true) turn = chain.next(await run(turn.value));
  return turn.value;
}
