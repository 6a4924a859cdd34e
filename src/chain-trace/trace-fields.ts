// Reads fields of a chain trace. A missing or mistyped field is a problem of the reader, and gets a harmless value.

import type { ObjectReader } from "../configuration/object-reader.ts";
import { isVerb, type Verb } from "../cni/environment.ts";
import { isJsonObject } from "../json/document.ts";

/** A text that must be present; it may be empty. */
export function textField(reader: ObjectReader, key: string): string {
  reader.require(key);
  return reader.text(key) ?? "";
}

/** A duration in milliseconds that must be present. */
export function millisecondsField(reader: ObjectReader, key: string): number {
  const value = reader.value(key);
  if (typeof value === "number" && Number.isFinite(value) && value >= 0) return value;
  reader.refuse(key, "must be a number of milliseconds");
  return 0;
}

/** A verb of CNI that must be present. */
export function verbField(reader: ObjectReader): Verb {
  const verb = textField(reader, "verb");
  if (isVerb(verb)) return verb;
  reader.refuse("verb", "must be a value of CNI_COMMAND");
  return "VERSION";
}

/** A list of objects, each with its own reader; a missing list is empty. At most `max` elements are read. */
export function objectsField(reader: ObjectReader, key: string, max: number): readonly ObjectReader[] {
  const list = reader.value(key) ?? [];
  if (!Array.isArray(list)) {
    reader.refuse(key, "must be a list");
    return [];
  }
  if (list.length > max) {
    reader.refuse(key, `must have at most ${max} elements in all, but has ${list.length} here`);
    return [];
  }
  return list.flatMap((element: unknown, index) => {
    if (isJsonObject(element)) return [reader.at(`${key}.${index}`, element)];
    reader.refuse(`${key}.${index}`, "must be an object");
    return [];
  });
}

/** An object whose members are texts; a missing one is empty. */
export function textsField(reader: ObjectReader, key: string): Readonly<Record<string, string>> {
  const object = reader.object(key);
  return Object.fromEntries((object?.keys() ?? []).map((name) => [name, object?.text(name) ?? ""]));
}
