import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { steadinessPage, steadinessPagePath } from "./steadiness-page.ts";
import { steadyAtEnd, type SteadyRun } from "./test-run/steady-runs.ts";

const run = (...failures: readonly string[]): SteadyRun => ({
  date: "2026-11-27",
  commit: "abc",
  minutes: 9.5,
  passed: 10,
  skipped: 1,
  failures,
});

test("the page of steadiness is generated from the committed runs (npm run docs)", () => {
  expect(readFileSync(steadinessPagePath, "utf8")).toBe(steadinessPage());
});

test("runs without a failure are counted from the end of the record", () => {
  expect(steadyAtEnd([])).toBe(0);
  expect(steadyAtEnd([run(), run("a"), run(), run()])).toBe(2);
  expect(steadyAtEnd([run("a")])).toBe(0);
});

test("the page names each failure with its run", () => {
  const page = steadinessPage([run(), run("test/a.test.ts: works: no")]);
  expect(page).toContain("| 2 | 2026-11-27 | `abc` | 9.5 min | 10 | 1 | 1 |");
  expect(page).toContain("- Run 2: test/a.test.ts: works: no");
  expect(page).toContain("Runs in a row without a failure, up to the last one: 0.");
});
