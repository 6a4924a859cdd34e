// The valid names that a mistyped name may mean.

import { closest } from "../configuration/closest.ts";

const maxNames = 3;

/** "did you mean …?" with at most three names, the nearest one first; else all valid names. */
export function nearestNames(name: string, valid: readonly string[]): string {
  const nearest = [...nearestFirst(name, valid)].slice(0, maxNames);
  if (nearest.length === 0) return `valid: ${valid.join(", ")}`;
  return `did you mean ${nearest.join(" or ")}?`;
}

function* nearestFirst(name: string, valid: readonly string[]): Generator<string> {
  const left = new Set(valid);
  for (;;) {
    const found = closest(name, [...left]);
    if (found === undefined) break;
    left.delete(found);
    yield found;
  }
  // A beginning is no edit: `attach` is far from `attachments`.
  if (name.length < 2) return;
  for (const each of left) if (each.startsWith(name)) yield each;
}
