import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { configurationPage, configurationPagePath, configurationSchema, configurationSchemaPath } from "./configuration-page.ts";

test("the page and the JSON Schema of configuration keys are generated from the code (npm run docs)", () => {
  expect(readFileSync(configurationPagePath, "utf8")).toBe(configurationPage());
  expect(readFileSync(configurationSchemaPath, "utf8")).toBe(configurationSchema());
});

test("every key has a meaning", () => {
  const rows = configurationPage()
    .split("\n")
    .filter((line) => line.startsWith("| `"));
  expect(rows.length).toBeGreaterThan(20);
  for (const row of rows) expect(row).toMatch(/\| [A-Za-z].{5,} \|$/);
  expect(rows.filter((row) => /[{}]/.test(row))).toEqual([]);
});
