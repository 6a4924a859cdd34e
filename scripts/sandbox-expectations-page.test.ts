import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { heldRows, testsByRow } from "./checklist/checklist.ts";
import { expectations, openExpectations } from "./checklist/expectations.ts";
import { expectationsPage, expectationsPagePath } from "./sandbox-expectations-page.ts";

const tests = testsByRow();
const rows = heldRows(expectations, openExpectations, tests);

test("the page of expectations is generated from the tests' titles (npm run docs)", () => {
  expect(readFileSync(expectationsPagePath, "utf8")).toBe(expectationsPage(tests));
});

test("every row has a test or a reason, and no row has both", () => {
  expect(rows.filter((row) => row.tests.length > 0 === (row.open !== undefined)).map(({ id }) => id)).toEqual([]);
  const ids = rows.map(({ id }) => id);
  expect(Object.keys(openExpectations).filter((id) => !ids.includes(id))).toEqual([]);
  expect([...tests.keys()].filter((id) => /^[EX]-/.test(id) && !ids.includes(id))).toEqual([]);
});
