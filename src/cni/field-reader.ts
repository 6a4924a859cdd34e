// Reads typed fields of parsed JSON by hand, because this runs for every step's result. The first problem is noted with its path
// and reading continues with a stand-in, so that callers check once, at the end. Go's decoder and plugins treat null as an absent
// field, so null is absent here too.

import { describeJson, isJsonObject } from "../json/document.ts";

/** Collects the first problem of one document. */
export interface Problems {
  first: string | undefined;
}

/** A JSON object's members. */
export type Fields = Readonly<Record<string, unknown>>;

/** Records a problem, unless there is an earlier one. */
export function note(problems: Problems, problem: string): void {
  problems.first ??= problem;
}

function unexpected(problems: Problems, path: string, wanted: string, value: unknown): void {
  note(problems, `${path} must be ${wanted}, but is ${describeJson(value)}`);
}

/** The member's value. Members of the prototype (`constructor`) count as absent. */
export function member(fields: Fields, key: string): unknown {
  return Object.hasOwn(fields, key) ? (fields[key] ?? undefined) : undefined;
}

/** A string; undefined if absent or empty, which Go writes and reads alike. */
export function readString(problems: Problems, fields: Fields, key: string, path: string): string | undefined {
  const value = member(fields, key);
  if (value === undefined || value === "") return undefined;
  if (typeof value === "string") return value;
  unexpected(problems, `${path}${key}`, "a string", value);
  return undefined;
}

/** An integer between `min` and `max`; undefined if absent. */
export function readInteger(
  problems: Problems,
  fields: Fields,
  key: string,
  path: string,
  min: number,
  max: number,
): number | undefined {
  const value = member(fields, key);
  if (value === undefined) return undefined;
  if (typeof value === "number" && Number.isInteger(value) && value >= min && value <= max) return value;
  unexpected(problems, `${path}${key}`, `an integer from ${min} to ${max}`, value);
  return undefined;
}

/** An object; undefined if absent. */
export function readObject(problems: Problems, fields: Fields, key: string, path: string): Fields | undefined {
  const value = member(fields, key);
  if (value === undefined) return undefined;
  if (isJsonObject(value)) return value;
  unexpected(problems, `${path}${key}`, "an object", value);
  return undefined;
}

/** A list; empty if absent. */
function readList(problems: Problems, fields: Fields, key: string, path: string): readonly unknown[] {
  const value = member(fields, key);
  if (value === undefined) return [];
  if (Array.isArray(value)) return value;
  unexpected(problems, `${path}${key}`, "a list", value);
  return [];
}

/** A list of objects, each read by `read`, which gets the element's path with a trailing dot. */
export function readObjects<T>(
  problems: Problems,
  fields: Fields,
  key: string,
  path: string,
  read: (fields: Fields, path: string) => T,
): T[] {
  return readList(problems, fields, key, path).map((element, index) => {
    const at = `${path}${key}[${index}]`;
    if (isJsonObject(element)) return read(element, `${at}.`);
    unexpected(problems, at, "an object", element);
    return read({}, `${at}.`);
  });
}

/** A list of strings; empty if absent. */
export function readStrings(problems: Problems, fields: Fields, key: string, path: string): string[] {
  const strings: string[] = [];
  for (const [index, element] of readList(problems, fields, key, path).entries()) {
    if (typeof element === "string") strings.push(element);
    else unexpected(problems, `${path}${key}[${index}]`, "a string", element);
  }
  return strings;
}
