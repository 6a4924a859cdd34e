// Readers of members of untrusted objects of the Kubernetes API. Their sizes are bounded.

import { isJsonObject } from "../../../src/json/document.ts";
import { problem, type Reading } from "../../../src/kube/object-parts.ts";

/** A member that is an object; empty if there is none. */
export function objectIn(value: unknown, key: string): Readonly<Record<string, unknown>> {
  const member = isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return isJsonObject(member) ? member : {};
}

/** A member that is a list of objects, of at most `maxLength`; an absent member is an empty list. */
export function objectsIn(
  value: Readonly<Record<string, unknown>>,
  key: string,
  maxLength: number,
): Reading<readonly Readonly<Record<string, unknown>>[]> {
  const member = (Object.hasOwn(value, key) ? value[key] : undefined) ?? [];
  if (!Array.isArray(member)) return problem(`${key} is not a list`);
  if (member.length > maxLength) return problem(`${key} has ${member.length} entries, and Plexus reads at most ${maxLength}`);
  const objects: Readonly<Record<string, unknown>>[] = [];
  for (const each of member as readonly unknown[]) {
    if (!isJsonObject(each)) return problem(`${key} has an entry that is not an object`);
    objects.push(each);
  }
  return { ok: true, value: objects };
}

/** A member that is a text; empty if there is none. */
export function textIn(value: Readonly<Record<string, unknown>>, key: string): string {
  const member = Object.hasOwn(value, key) ? value[key] : undefined;
  return typeof member === "string" ? member : "";
}
