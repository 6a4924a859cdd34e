// Explains the rule for a step: its failure policy, its shadow, and its share of an ADD's time.

import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import { stepRule, type StepRule, type StepRules } from "../../../src/configuration/step-rules.ts";
import { whyNotOpen } from "../../../src/step-policy/failure-policy.ts";
import { keptMs, stepBudgetMs, undoReserveMs } from "../../../src/step-policy/call-deadline.ts";

/** The rule that holds for one step of a list. */
export interface ExplainedRule {
  readonly failure: StepRule["failure"];
  /** With `retry`: maximum further tries, and the error codes that are tried again; null otherwise. */
  readonly retries: number | null;
  readonly retryOn: readonly number[] | null;
  /** The shadow of this step, or of its IPAM plugin; null without one. */
  readonly shadow: ExplainedShadow | null;
  /** Why the configured policy does not hold for this step; null if it does. */
  readonly note: string | null;
  /** The step's time in an ADD that attaches this network alone. */
  readonly time: {
    /** Maximum milliseconds, if the steps before take no time. */
    readonly maxMs: number;
    /** Milliseconds that the step keeps, however slow the steps before it are. */
    readonly minMs: number;
  };
}

/** A component that runs beside a native plugin, without effects. */
export interface ExplainedShadow {
  /** Type of the native plugin: the step's, or its `ipam.type`. */
  readonly beside: string;
  /** Type of the component. */
  readonly type: string;
  /** Why it will not run; null if it will. */
  readonly problem: string | null;
}

/** The times of a configuration. */
export type CallTimes = Pick<HostConfiguration, "callTimeoutMs" | "stepTimeoutMs">;

/** A step's place: its position in a list of `steps` plugins, its plugin type, and its IPAM type. */
export interface StepPlace {
  readonly index: number;
  readonly steps: number;
  readonly type: string;
  readonly ipamType?: string | undefined;
}

/** The shadow's problem, if the component of type `shadow` runs beside the native plugin `beside`; null if it will run. */
export type ShadowProblem = (beside: string, shadow: string) => string | null;

/** Explains the rule for the step at `place`. */
export function explainRule(
  rules: StepRules | undefined,
  { callTimeoutMs, stepTimeoutMs }: CallTimes,
  { index, steps, type, ipamType }: StepPlace,
  shadowProblem: ShadowProblem = () => null,
): ExplainedRule {
  const rule = stepRule(rules, type);
  const { failure, retries, retryOn } = rule;
  const note = whyNotOpen(rule, index, type) ?? null;
  const isRetried = failure === "retry";
  return {
    failure: note === null ? failure : "closed",
    retries: isRetried ? retries : null,
    retryOn: isRetried ? retryOn : null,
    shadow: explainShadow(rules, type, ipamType, shadowProblem),
    note,
    time: timeOf(callTimeoutMs, stepTimeoutMs, { index, steps }),
  };
}

function explainShadow(
  rules: StepRules | undefined,
  type: string,
  ipamType: string | undefined,
  shadowProblem: ShadowProblem,
): ExplainedShadow | null {
  const beside = stepRule(rules, type).shadow === undefined ? ipamType : type;
  const shadow = beside === undefined ? undefined : stepRule(rules, beside).shadow;
  return beside === undefined || shadow === undefined ? null : { beside, type: shadow, problem: shadowProblem(beside, shadow) };
}

function timeOf(
  callTimeoutMs: number,
  stepTimeoutMs: number,
  { index, steps }: Pick<StepPlace, "index" | "steps">,
): ExplainedRule["time"] {
  const reserveMs = undoReserveMs(callTimeoutMs);
  const kept = keptMs(callTimeoutMs - reserveMs, steps);
  const budgetMs = stepBudgetMs({ leftMs: callTimeoutMs, reserveMs, keptMs: kept, stepsAfter: steps - index - 1 });
  const bounded = (ms: number): number => Math.floor(Math.min(stepTimeoutMs, ms));
  return { maxMs: bounded(budgetMs), minMs: bounded(steps === 1 ? budgetMs : kept) };
}
