// Checks of values in ExternalPorts and in answers of providers, which are untrusted.

import { isJsonObject } from "../../../src/json/document.ts";

/** The members of an object. */
export type Members = Readonly<Record<string, unknown>>;

/** The value if it is an object, else an empty one. */
export function objectOf(value: unknown): Members {
  return isJsonObject(value) ? value : {};
}

/** Whether the value is a text of 1 to `maxLength` UTF-16 units. */
export function isText(value: unknown, maxLength: number): value is string {
  return typeof value === "string" && value !== "" && value.length <= maxLength;
}

/** Whether the value is a whole number from 0 to `max`. */
export function isCount(value: unknown, max: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= max;
}

/** The object that a text holds as JSON; undefined if it is none. */
export function objectIn(text: string): Members | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return isJsonObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}
