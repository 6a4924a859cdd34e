// Reads rules for steps: the section `steps`, and `steps` of a rule for definitions.

import { describeJson } from "../json/document.ts";
import type { ObjectReader } from "./object-reader.ts";
import { defaultStepRule, failurePolicies, maxErrorCode, maxRetries, type StepRule, type StepRules } from "./step-rules.ts";

/** A plugin's type, which is a file name. */
export const typePattern = /^(?!\.{1,2}$)[!-.0-~]{1,255}$/;

/** See `typePattern`, for messages. */
export const typeWanted = "the type of a plugin";

/**
 * The rules; undefined: the configuration has none. If they have a mistake and the call continues nevertheless (DEL, CHECK), no rule
 * holds: every step is `closed` and has no shadow.
 */
export function readStepRules(reader: ObjectReader | undefined): StepRules | undefined {
  if (reader === undefined) return undefined;
  const before = reader.problems.length;
  const rules = reader.entries().map(([type, each]) => {
    if (!typePattern.test(type)) reader.refuse(type, `is not ${typeWanted}`);
    return [type, readRule(each)] as const;
  });
  return reader.problems.length === before && rules.length > 0 ? Object.fromEntries(rules) : undefined;
}

function readRule(reader: ObjectReader): StepRule {
  const failure = reader.oneOf("failure", failurePolicies) ?? defaultStepRule.failure;
  const rule: StepRule = {
    failure,
    retries: reader.count("retries", maxRetries) ?? defaultStepRule.retries,
    retryOn: readCodes(reader) ?? defaultStepRule.retryOn,
    shadow: reader.matching("shadow", typePattern, typeWanted),
  };
  for (const key of ["retries", "retryOn"]) {
    if (reader.value(key) !== undefined && failure !== "retry") reader.refuse(key, 'needs "failure": "retry"');
  }
  reader.end();
  return rule;
}

function readCodes(reader: ObjectReader): readonly number[] | undefined {
  const value = reader.value("retryOn");
  if (value === undefined) return undefined;
  if (Array.isArray(value) && value.length > 0 && value.every(isCode)) return value;
  reader.refuse("retryOn", `must be a list of at least one CNI error code, but is ${describeJson(value)}`);
  return undefined;
}

function isCode(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= maxErrorCode;
}
