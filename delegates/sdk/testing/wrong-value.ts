// A value in an author's JSON file that is missing or of the wrong type, as a sentence.

import type { z } from "zod";
import { describeJson } from "../../../src/json/document.ts";
import { quote } from "../../../src/json/quote.ts";

const types: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
};

/** The value at a path of a parsed document; undefined if it is missing. */
export function valueAt(document: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((holder, key) => (Object.hasOwn(Object(holder), key) ? Object(holder)[key] : undefined), document);
}

/** The mistake with its field. `document`: the whole parsed file. An unknown member has a sentence of the caller's. */
export function wrongValue(issue: z.core.$ZodIssue, document: unknown): string {
  const at = issue.path.map(String).join(".") || "(top)";
  const value = valueAt(document, issue.path);
  const found = value === undefined ? "is missing" : `is ${typeof value === "string" ? quote(value, 60) : describeJson(value)}`;
  if (issue.code === "invalid_value") {
    const valid = issue.values.map(String).join(", ");
    return value === undefined ? `${at} is missing: it must be one of ${valid}` : `${at}: must be one of ${valid}, but ${found}`;
  }
  if (issue.code !== "invalid_type") return `${at}: ${issue.message}`;
  const wanted = types[issue.expected] ?? issue.expected;
  return value === undefined
    ? `${at} is missing: it must be ${wanted}`
    : `${at}: must be ${wanted}, but is ${describeJson(value)}`;
}
