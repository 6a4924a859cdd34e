// The differences of two JSON values, as a list of additions, removals and replacements with JSON pointers (RFC 6901).

import { isJsonObject } from "./document.ts";

/**
 * One difference. A path of `remove` and `replace` leads to the value in the first document, a path of `add` in the second one: the
 * elements of a list before an added or removed element keep their position.
 */
export type JsonChange =
  | { readonly op: "add"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string; readonly before: unknown }
  | { readonly op: "replace"; readonly path: string; readonly before: unknown; readonly value: unknown };

/** The differences, at most `maxChanges`; `isComplete` is false if there are more. */
export interface JsonChanges {
  readonly changes: readonly JsonChange[];
  readonly isComplete: boolean;
}

/** Maximum number of listed differences. */
export const defaultMaxChanges = 500;

/** Values below this level are compared as a whole. No document of Plexus has as many levels. */
const maxLevels = 100;

/** The differences between two JSON values; undefined stands for an absent document. Two equal documents have none. */
export function jsonChanges(before: unknown, after: unknown, maxChanges = defaultMaxChanges): JsonChanges {
  const comparison: Comparison = { found: [], maxChanges };
  compare(comparison, "", before, after);
  const { found } = comparison;
  return { changes: found.slice(0, maxChanges), isComplete: found.length <= maxChanges };
}

/**
 * Whether two JSON values are equal. The order of an object's members does not matter; a member that is undefined counts as absent.
 * Linear in the size of the values, which `compareLists` relies on.
 */
export function jsonEqual(one: unknown, other: unknown, level = 0): boolean {
  if (Object.is(one, other)) return true;
  // Deeper values have their members in the same order, or count as different.
  if (level >= maxLevels) return JSON.stringify(one) === JSON.stringify(other);
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((element, index) => jsonEqual(element, other[index], level + 1));
  if (!isJsonObject(one) || !isJsonObject(other)) return false;
  return keysOf(one, other).every((key) => jsonEqual(memberOf(one, key), memberOf(other, key), level + 1));
}

interface Comparison {
  /** One more than `maxChanges` may be found, which shows that there are more. */
  readonly found: JsonChange[];
  readonly maxChanges: number;
}

function compare(comparison: Comparison, path: string, before: unknown, after: unknown, level = 0): void {
  if (comparison.found.length > comparison.maxChanges || Object.is(before, after)) return;
  if (before === undefined) comparison.found.push({ op: "add", path, value: after });
  else if (after === undefined) comparison.found.push({ op: "remove", path, before });
  else if (level < maxLevels && Array.isArray(before) && Array.isArray(after)) {
    compareLists(comparison, path, before, after, level + 1);
  } else if (level < maxLevels && isJsonObject(before) && isJsonObject(after)) {
    for (const key of keysOf(before, after))
      compare(comparison, `${path}/${pointerPart(key)}`, memberOf(before, key), memberOf(after, key), level + 1);
  } else if (level < maxLevels || !jsonEqual(before, after, level)) {
    comparison.found.push({ op: "replace", path, before, value: after });
  }
}

/** Equal elements at both ends stay; those between are compared by position. So one inserted element is one addition. */
function compareLists(
  comparison: Comparison,
  path: string,
  before: readonly unknown[],
  after: readonly unknown[],
  level: number,
): void {
  const shorter = Math.min(before.length, after.length);
  let first = 0;
  while (first < shorter && jsonEqual(before[first], after[first], level)) first++;
  let last = 0;
  while (last < shorter - first && jsonEqual(before[before.length - 1 - last], after[after.length - 1 - last], level)) last++;
  const between = Math.max(before.length, after.length) - last;
  for (let index = first; index < between; index++) {
    const one = index < before.length - last ? before[index] : undefined;
    const other = index < after.length - last ? after[index] : undefined;
    compare(comparison, `${path}/${index}`, one, other, level);
  }
}

function keysOf(one: object, other: object): readonly string[] {
  return [...new Set([...Object.keys(one), ...Object.keys(other)])];
}

/** The own member: a key may be called `constructor` or `__proto__`. */
function memberOf(object: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function pointerPart(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}
