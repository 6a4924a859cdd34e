import { expect, test } from "vitest";
import { defaultStepRule, type StepRules } from "../../../src/configuration/step-rules.ts";
import { type ExplainedRule, explainRule } from "./explain-rule.ts";

const rules: StepRules = { open: { ...defaultStepRule, failure: "open" }, retry: { ...defaultStepRule, failure: "retry" } };
const times = { callTimeoutMs: 220_000, stepTimeoutMs: 60_000 };

function at(index: number, type: string): ExplainedRule {
  return explainRule(rules, times, { index, steps: 2, type });
}

test("E-11: each step has its policy, and the first plugin of a list the reason why open does not hold", () => {
  expect(at(0, "open")).toMatchObject({ failure: "closed", note: expect.stringContaining("does not hold for the first plugin") });
  expect(at(1, "open")).toMatchObject({ failure: "open", note: null, retries: null, retryOn: null });
  expect(at(0, "retry")).toMatchObject({ failure: "retry", retries: 2, retryOn: [11], note: null });
  expect(at(1, "other")).toMatchObject({ failure: "closed", retries: null, note: null });
});

function time(index: number, steps: number, stepTimeoutMs = 1_000_000): ExplainedRule["time"] {
  return explainRule(undefined, { ...times, stepTimeoutMs }, { index, steps, type: "x" }).time;
}

test("X-5: the budget of a step has its longest and its guaranteed time", () => {
  expect(time(0, 1)).toEqual({ maxMs: 160_000, minMs: 160_000 });
  expect(time(0, 4)).toEqual({ maxMs: 100_000, minMs: 20_000 });
  expect(time(3, 4)).toEqual({ maxMs: 160_000, minMs: 20_000 });
  expect(time(3, 4, 10_000)).toEqual({ maxMs: 10_000, minMs: 10_000 });
});
