// Completes a step's record with what follows from its input and output: `prevResult`, `result`, and the changes between them.

import { boundedJson } from "../json/bounded-json.ts";
import { isJsonObject } from "../json/document.ts";
import { jsonChanges } from "../json/json-changes.ts";
import type { StepRecord } from "./chain-trace.ts";

/** A step's record without the fields that follow from the others. */
export type ObservedStep = Omit<StepRecord, "prevResult" | "result" | "changes">;

/** The whole record. Texts that are not JSON have no `prevResult`, `result` and `changes`. */
export function stepRecord(step: ObservedStep): StepRecord {
  const prevResult = memberOf(boundedJson(step.stdin), "prevResult");
  const result = step.verb === "ADD" && step.outcome.ok ? boundedJson(step.outcome.stdout) : undefined;
  const { changes, isComplete } = result === undefined ? { changes: [], isComplete: true } : jsonChanges(prevResult, result);
  return { ...step, prevResult, result, changes, omitted: isComplete ? step.omitted : [...step.omitted, "changes"] };
}

/** The steps and the steps that their plugins called, in the order in which they began. */
export function allSteps(steps: readonly StepRecord[]): readonly StepRecord[] {
  return steps.flatMap((step) => [step, ...allSteps(step.steps)]);
}

function memberOf(value: unknown, key: string): unknown {
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}
