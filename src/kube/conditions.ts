// Conditions of an object's status (metav1.Condition).

import { isJsonObject } from "../json/document.ts";

/** The statement of a condition. */
export interface Judgement {
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
}

/** A condition of an object's status. */
export interface Condition extends Judgement {
  readonly type: string;
  /** RFC 3339. */
  readonly lastTransitionTime: string;
  readonly observedGeneration: number;
}

/** The part of an object that its conditions follow from. */
interface Judged {
  readonly conditions: readonly Condition[];
  readonly generation: number;
}

/** The object's condition of this type with a new judgement; its time changes with its status only. `now`: RFC 3339. */
export function judgedCondition({ conditions, generation }: Judged, type: string, judgement: Judgement, now: string): Condition {
  const before = conditions.find((each) => each.type === type);
  const lastTransitionTime = before?.status === judgement.status ? before.lastTransitionTime : now;
  return { type, ...judgement, lastTransitionTime, observedGeneration: generation };
}

/** Reads `status.conditions`; elements that are no conditions are left out. */
export function readConditions(value: unknown): readonly Condition[] {
  return Array.isArray(value) ? value.flatMap(readCondition) : [];
}

function readCondition(value: unknown): readonly Condition[] {
  if (!isJsonObject(value)) return [];
  const { type, status, reason = "", message = "", lastTransitionTime = "", observedGeneration = 0 } = value;
  if (typeof type !== "string" || (status !== "True" && status !== "False" && status !== "Unknown")) return [];
  const generation = typeof observedGeneration === "number" ? observedGeneration : 0;
  return [
    {
      type,
      status,
      reason: textOf(reason),
      message: textOf(message),
      lastTransitionTime: textOf(lastTransitionTime),
      observedGeneration: generation,
    },
  ];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
