import * as fc from "fast-check";
import { expect, test } from "vitest";
import { nearestOffset, offsetOfMistake, offsetOfPath, positionAt } from "./position.ts";

const text = `{
  "name": "pods",
  "plugins": [{"type": "bridge"}, {"type": "tuning",
    "ipam": {"type": "x"}}]
}`;

test.each([
  [["name"], 2, 11],
  [["plugins", 0, "type"], 3, 24],
  [["plugins", 1], 3, 35],
  [["plugins", 1, "ipam", "type"], 4, 22],
  [[], 1, 1],
])("%j is at line %i, column %i", (path, line, column) => {
  expect(positionAt(text, offsetOfPath(text, path) ?? -1)).toEqual({ line, column });
});

test.each([[["nothing"]], [["plugins", 2]], [["plugins", "0"]], [["name", 0]], [["plugins", 0, "type", "x"]]])(
  "%j is absent",
  (path) => {
    expect(offsetOfPath(text, path)).toBeUndefined();
  },
);

test("the nearest offset is that of the longest part that is there", () => {
  expect(nearestOffset(text, ["plugins", 1, "ipam", "ranges"])).toBe(offsetOfPath(text, ["plugins", 1, "ipam"]));
});

test.each([
  ['{"a": tru}', 6],
  ['{"a":1,"a":2}', 7],
  ['{"a":1}', undefined],
])("%s has its mistake at %s", (json, offset) => {
  expect(offsetOfMistake(json)).toBe(offset);
});

/** The paths of values that are not found at their offset. */
function lost(whole: string, value: unknown, path: readonly (string | number)[]): readonly unknown[] {
  const rest = whole.slice(offsetOfPath(whole, path) ?? whole.length);
  if (typeof value !== "object" || value === null) return rest.startsWith(JSON.stringify(value)) ? [] : [path];
  return Object.entries(value).flatMap(([key, inner]: [string, unknown]) =>
    lost(whole, inner, [...path, Array.isArray(value) ? Number(key) : key]),
  );
}

test("every value of any JSON is found at its path", () => {
  const property = fc.property(
    fc.jsonValue(),
    fc.nat(3),
    (value, indent) => lost(JSON.stringify(value, undefined, indent), JSON.parse(JSON.stringify(value)), []).length === 0,
  );
  // A failure of `assert` names the seed.
  expect(() => fc.assert(property, { numRuns: 100 })).not.toThrow();
});
