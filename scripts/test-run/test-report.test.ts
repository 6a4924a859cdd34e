import { expect, test } from "vitest";

import { closingText, isGreen, mergeRepetition, type TestReport, unsteadyLines } from "./test-report.ts";

const file = (name: string, passed: number, failed = 0, skipped = 0, durationMs = 10): TestReport["files"][number] => ({
  file: name,
  passed,
  failed,
  skipped,
  durationMs,
  cpuMs: 0,
});
const failure = (name: string, title = "works"): TestReport["failed"][number] => ({ file: name, test: title, message: "no" });
const report = (more: Partial<TestReport>): TestReport => ({ files: [], failed: [], skipped: [], stray: [], ...more });

test("a failure that the repetition does not confirm leaves the run green and is named as unsteady", () => {
  const first = report({ files: [file("a", 3), file("b", 1, 1)], failed: [failure("b")] });
  const run = mergeRepetition(first, report({ files: [file("b", 2)] }));
  expect(isGreen(run)).toBe(true);
  expect(unsteadyLines(run)).toEqual(["unsteady: b: works: no"]);
  expect(closingText(run)).toMatch(/\nunsteady: b: works: no\ntests: 5 passed, 0 failed, 0 skipped\n$/);
});

test("a failure that the repetition confirms stays, even if another test of the file fails this time", () => {
  const first = report({ files: [file("b", 1, 1)], failed: [failure("b", "one")] });
  const run = mergeRepetition(first, report({ files: [file("b", 1, 1)], failed: [failure("b", "another")] }));
  expect(isGreen(run)).toBe(false);
  expect(run.unsteady).toEqual([]);
  expect(closingText(run)).toContain("failed: b: another: no\ntests: 1 passed, 1 failed, 0 skipped\n");
});

test("a failed file that the repetition did not run stays failed", () => {
  const first = report({ files: [file("a", 1, 1), file("b", 1, 1)], failed: [failure("a"), failure("b")] });
  const run = mergeRepetition(first, report({ files: [file("b", 2)] }));
  expect(isGreen(run)).toBe(false);
  expect(run.failed).toEqual([failure("a")]);
});

test("an error outside of any test makes the run red, also in the repetition", () => {
  expect(isGreen(mergeRepetition(report({ files: [file("a", 1)], stray: ["rejected"] }), undefined))).toBe(false);
  const first = report({ files: [file("a", 0, 1)], failed: [failure("a")] });
  expect(isGreen(mergeRepetition(first, report({ files: [file("a", 1)], stray: ["rejected"] })))).toBe(false);
});

test("a run of no tests is not green", () => {
  expect(isGreen(mergeRepetition(report({ files: [file("a", 0, 0, 4)] }), undefined))).toBe(false);
});

test("skipped tests are grouped by reason, and the five slowest files are named", () => {
  const files = Array.from({ length: 7 }, (_, number) => file(`f${number}`, 1, 0, 2, number * 1000));
  const skipped = files.map((each) => ({ file: each.file, reason: "no go on PATH", count: 2 }));
  const lines = closingText(mergeRepetition(report({ files, skipped }), undefined)).split("\n");
  expect(lines).toEqual([
    "skipped: 14 tests in 7 files: no go on PATH",
    "slow: f6: 6.0 s",
    "slow: f5: 5.0 s",
    "slow: f4: 4.0 s",
    "slow: f3: 3.0 s",
    "slow: f2: 2.0 s",
    "tests: 7 passed, 0 failed, 14 skipped",
    "",
  ]);
});

test("of very many failures the first ones are listed, and all are counted", () => {
  const failed = Array.from({ length: 100 }, (_, number) => failure("a", `test ${number}`));
  const lines = closingText(mergeRepetition(report({ files: [file("a", 1, 100)], failed }), undefined)).split("\n");
  expect(lines.filter((line) => line.startsWith("failed: a: "))).toHaveLength(60);
  expect(lines.slice(-3)).toEqual(["failed: 40 more: see above", "tests: 1 passed, 100 failed, 0 skipped", ""]);
});
