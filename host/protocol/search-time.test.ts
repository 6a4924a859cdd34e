import { expect, test } from "vitest";
import { searchTimeMs, searchTimeVariable } from "./search-time.ts";

test.for([
  ["1500", 1500],
  ["", 0],
  ["-1", 0],
  ["1e9", 0],
  ["9999999", 0],
] as const)("%j milliseconds of search count as %i", ([text, ms]) => {
  expect(searchTimeMs(new Map([[searchTimeVariable, text]]))).toBe(ms);
});

test("a shim that found an engine at once names no time", () => {
  expect(searchTimeMs(new Map())).toBe(0);
});
