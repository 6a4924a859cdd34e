// A vitest reporter that writes the run as a TestReport into the file that PLEXUS_TEST_REPORT names. Without this variable it prints the closing lines.

import { writeFileSync } from "node:fs";
import { relative } from "node:path";

import type { Reporter, SerializedError, TestCase, TestModule } from "vitest/node";

import { root } from "../../test/lab/compiled.ts";
import { readSkipReasons } from "../../test/lab/skip-reasons.ts";
import { readFileCpu } from "./file-cpu-times.ts";
import { closingText, mergeRepetition, type FailedTest, type SkippedTests, type TestReport } from "./test-report.ts";

type TestError = ReturnType<TestModule["errors"]>[number];

/** Named in vitest.config.ts, beside the default reporter. */
export class ReportWriter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], stray: readonly SerializedError[]): void {
    const report = reportOf(modules, stray);
    const path = process.env["PLEXUS_TEST_REPORT"];
    if (path === undefined) process.stdout.write(`\n${closingText(mergeRepetition(report, undefined))}`);
    else writeFileSync(path, JSON.stringify(report));
  }
}

function reportOf(modules: readonly TestModule[], stray: readonly SerializedError[]): TestReport {
  const reasons = readSkipReasons();
  const cpu = readFileCpu();
  const files = modules.map((each) => {
    const states = [...each.children.allTests()].map((test) => test.result().state);
    const count = (state: string): number => states.filter((one) => one === state).length;
    const { duration, collectDuration, setupDuration } = each.diagnostic();
    return {
      file: each.relativeModuleId,
      passed: count("passed"),
      failed: count("failed"),
      skipped: count("skipped"),
      durationMs: duration + collectDuration + setupDuration,
      cpuMs: cpu.get(each.relativeModuleId) ?? 0,
    };
  });
  return {
    files,
    failed: [...modules.flatMap(failuresOf), ...stray.flatMap(failureOfFile)],
    skipped: modules.flatMap((each) => skippedOf(each, reasons.get(each.relativeModuleId) ?? [])),
    stray: stray.filter((error) => failureOfFile(error).length === 0).map((error) => firstLines(error)),
  };
}

/** An error outside of any test, as a failure of the file that its worker ran. vitest names that file. */
function failureOfFile(error: SerializedError): readonly FailedTest[] {
  const path: unknown = error["VITEST_TEST_PATH"];
  if (typeof path !== "string") return [];
  return [{ file: relative(root, path), test: "outside of any test", message: firstLines(error) }];
}

function failuresOf(testModule: TestModule): readonly FailedTest[] {
  const file = testModule.relativeModuleId;
  // A file that could not be loaded has no tests to count, but did fail. A hook of a group that failed leaves its tests as skipped.
  const ofFile = testModule
    .errors()
    .slice(0, 1)
    .map((error) => ({ file, test: "", message: firstLines(error) }));
  const ofGroups = [...testModule.children.allSuites()].flatMap((group) =>
    group
      .errors()
      .slice(0, 1)
      .map((error) => ({ file, test: group.fullName, message: firstLines(error) })),
  );
  const ofTests = [...testModule.children.allTests("failed")].map((test) => ({
    file,
    test: test.fullName,
    message: firstLines(errorOf(test)),
  }));
  return [...ofFile, ...ofGroups, ...ofTests];
}

function errorOf(test: TestCase): TestError | undefined {
  const result = test.result();
  return result.state === "failed" ? result.errors[0] : undefined;
}

/** `reasons` has the unmet requirements that the file named while it was loaded. A test's own note is more exact. */
function skippedOf(testModule: TestModule, reasons: readonly string[]): readonly SkippedTests[] {
  const counts = new Map<string, number>();
  for (const test of testModule.children.allTests("skipped")) {
    const result = test.result();
    const note = result.state === "skipped" ? result.note : undefined;
    const reason = note ?? (reasons.length === 0 ? "skipped in the test file, or by --testNamePattern" : reasons.join("; "));
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return [...counts].map(([reason, count]) => ({ reason, count, file: testModule.relativeModuleId }));
}

/** The beginning of an error's message and of its cause's, short enough for a list. */
function firstLines(error: TestError | SerializedError | undefined): string {
  const cause = error?.cause;
  const because = typeof cause === "object" && cause !== null && "message" in cause ? `: ${String(cause.message)}` : "";
  return `${error?.message ?? ""}${because}`.split("\n").slice(0, 6).join(" | ").slice(0, 600);
}
