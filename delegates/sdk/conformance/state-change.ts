// Differences between two states of a node.

import type { State } from "./subject.ts";

/** The keys that `after` has and `before` lacks, or has with another value. `kinds`: first words of the keys; absent: all. */
export function changedKeys(before: State, after: State, kinds?: readonly string[]): readonly string[] {
  return [...after]
    .filter(([key, value]) => before.get(key) !== value && (kinds === undefined || kinds.includes(kindOf(key))))
    .map(([key]) => key);
}

/** One phrase for each key that differs, such as `lease 10.1.0.5 remains`. Empty: the states are equal. */
export function remains(before: State, after: State): string {
  const left = changedKeys(before, after).map((key) => (before.has(key) ? `${key} differs` : `${key} remains`));
  const lost = [...before.keys()].filter((key) => !after.has(key)).map((key) => `${key} is gone`);
  return [...left, ...lost].slice(0, 5).join(", ");
}

/** The first word of a key. */
export function kindOf(key: string): string {
  return key.slice(0, key.indexOf(" "));
}
