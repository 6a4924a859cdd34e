// Calls whose budget for the API must run out. A busy machine uses a short budget up before the part that a test is about.

import type { Answer } from "../plexus.ts";

const budgetsMs = [2_000, 8_000, 32_000];

/** Calls with a growing `kubernetes.budgetMs` until the answer's `msg` is the expected one. Answers the last answer. */
export async function withGrowingBudget(call: (budgetMs: number) => Promise<Answer>, expected: RegExp): Promise<Answer> {
  let answer: Answer | undefined;
  for (const budgetMs of budgetsMs) {
    answer = await call(budgetMs);
    if (expected.test(String(answer.json?.["msg"]))) break;
  }
  if (answer === undefined) throw new Error("no budget");
  return answer;
}
