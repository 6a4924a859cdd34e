import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readmeFigures, readmePath, readmeWithFigures } from "./readme-figures.ts";

test("the figures of README.md are those of the committed benchmark (npm run docs)", () => {
  expect(readFileSync(readmePath, "utf8")).toBe(readmeWithFigures());
});

test("a benchmark without a compared row is refused by its name", () => {
  expect(() => readmeFigures([])).toThrow('benchmark.json has no rows for "ADD, default network only"');
});
