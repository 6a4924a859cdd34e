// The bound on a delegate's answer to ADD: the places of the result at which it may differ from `prevResult` (`result.change` of the grants).

import type { Fault } from "../fault/fault.ts";
import { matchesPattern } from "./grant-patterns.ts";
import { notGranted } from "./not-granted.ts";
import type { DelegateGrants } from "./keys/grant-keys.ts";

/** Maximum number of places in a message. The first one that is not granted is enough for the refusal. */
const maxNamed = 10;

/** Fault NOT_GRANTED for an answer that differs from `before` at a place that the type's grants do not allow; undefined: all are allowed. */
export function refusedChange(type: string, grants: DelegateGrants, before: unknown, after: unknown): Fault | undefined {
  const granted = grants.result?.change;
  if (granted === undefined) return undefined;
  const places = changesBeyond(granted, before, after);
  if (places.length === 0) return undefined;
  const request = `${type}: the change of ${places.join(", ")} in the result`;
  return notGranted({ type, key: "result.change", request, granted });
}

/**
 * The first places that differ, as paths such as `ips/0/gateway`, without those that `patterns` allow. A pattern allows its place and
 * everything within it; `*` stands for one element of a list. An absent object or list equals an empty one, so that a pattern for
 * `dns/domain` allows the domain of a result that had no `dns`. List elements are compared by position.
 */
export function changesBeyond(patterns: readonly string[], before: unknown, after: unknown): readonly string[] {
  const found: string[] = [];
  compare({ rules: patterns.map((pattern) => pattern.split("/")), found }, [], before, after);
  return found;
}

interface Comparison {
  readonly rules: readonly (readonly string[])[];
  readonly found: string[];
}

function compare(comparison: Comparison, path: readonly string[], before: unknown, after: unknown): void {
  const { rules, found } = comparison;
  if (found.length >= maxNamed || before === after || rules.some((rule) => covers(rule, path))) return;
  const [members, further] = [membersOf(before), membersOf(after)];
  if (members === undefined || further === undefined) {
    found.push(path.join("/"));
    return;
  }
  const names = new Set([...Object.keys(members), ...Object.keys(further)]);
  for (const name of names) compare(comparison, [...path, name], members[name], further[name]);
}

/** The members of an object or a list; none for an absent one; undefined for another value. */
function membersOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  if (value === undefined) return {};
  return typeof value === "object" && value !== null ? { ...value } : undefined;
}

/** Whether the rule names the place or a place around it. */
function covers(rule: readonly string[], path: readonly string[]): boolean {
  return rule.length <= path.length && rule.every((part, index) => matchesPattern(part, path[index] ?? ""));
}
