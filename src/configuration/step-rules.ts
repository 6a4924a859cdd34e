// The administrator's rules for steps, by plugin type: what a step's failure means, and which component runs beside the plugin. `steps` holds for the administrator's networks, `definitions.rules[].steps` for bound definitions.

import { describeJson } from "../json/document.ts";
import { defaultsOf, key, type ValuesOf } from "./table/key.ts";
import type { Kind, TextRule } from "./table/kind.ts";
import { count, matching, oneOf } from "./table/kinds.ts";
import { named, section } from "./table/section.ts";

/** `closed`: a failed step fails its chain; `open`: the chain goes on without the step; `retry`: the step is tried again first. */
const failurePolicies = ["closed", "open", "retry"] as const;

/** See `failurePolicies`. */
export type FailurePolicy = (typeof failurePolicies)[number];

/** CNI error code 11 (section 5): the plugin may succeed later. */
export const tryAgainLater = 11;

/** Maximum of an error code: the WIT contract has 32 bits for it. */
const maxErrorCode = 4_294_967_295;

/** A plugin's type, which is a file name. */
const typeRule: TextRule = { pattern: /^(?!\.{1,2}$)[!-.0-~]{1,255}$/, wanted: "the type of a plugin" };

const errorCodes: Kind<readonly number[]> = {
  read: (reader, at) => {
    const value = reader.value(at);
    if (Array.isArray(value) && value.length > 0 && value.every(isCode)) return value;
    reader.refuse(at, `must be a list of at least one CNI error code, but is ${describeJson(value)}`);
    return undefined;
  },
  schema: () => ({ type: "array", items: count(maxErrorCode).schema(), minItems: 1 }),
};

function isCode(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= maxErrorCode;
}

const ruleKeys = {
  failure: key({
    kind: oneOf(failurePolicies),
    about:
      "Effect of a failed step. closed (default): the chain fails. open: the chain goes on with the unchanged result, after a DEL of the step; it does not hold for the first plugin of a list. retry: the step is tried again, after a DEL of the step, and then fails.",
    usual: "closed",
  }),
  retries: key({
    kind: count(10),
    about: "Maximum number of further tries with retry; {usual} by default.",
    usual: 2,
  }),
  retryOn: key({
    kind: errorCodes,
    about: "CNI error codes of the plugin that are tried again; {usual} by default.",
    usual: [tryAgainLater],
  }),
  shadow: key({
    kind: matching(typeRule),
    about:
      "Type of a component that runs beside the native plugin of this type, without effects. It may be the same type. The pod gets the native plugin's result; a difference is counted and logged.",
  }),
};

/** The rule for the steps of one plugin type, with every default filled in. */
export type StepRule = ValuesOf<typeof ruleKeys>;

/** Rules by plugin type. */
export type StepRules = Readonly<Record<string, StepRule>>;

/** The rule of a type that the configuration does not mention. */
export const defaultStepRule: StepRule = defaultsOf(ruleKeys);

const rulesByType = named(
  section(ruleKeys, {
    finish: (rule, reader) => {
      for (const at of ["retries", "retryOn"])
        if (reader.has(at) && rule.failure !== "retry") reader.refuse(at, 'needs "failure": "retry"');
      return rule;
    },
  }),
  { pattern: typeRule.pattern, wrong: `is not ${typeRule.wanted}` },
);

/**
 * The kind of rules for steps. In a call that goes on in spite of a mistake (DEL, CHECK) no rule holds: every step is `closed` and has no
 * shadow.
 */
export const stepRules: Kind<StepRules> = {
  ...rulesByType,
  read: (reader, at) => {
    const before = reader.problems.length;
    const rules = rulesByType.read(reader, at) ?? {};
    return reader.problems.length === before && Object.keys(rules).length > 0 ? rules : undefined;
  },
};

/** The rule for a plugin type; the default rule if there is none. */
export function stepRule(rules: StepRules | undefined, type: string): StepRule {
  return (rules !== undefined && Object.hasOwn(rules, type) ? rules[type] : undefined) ?? defaultStepRule;
}
