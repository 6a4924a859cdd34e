// A reporter that ends a run with the skipped tests and their reasons, the failed tests, and one line of counts that any CI can
// parse: "tests: N passed, N failed, N skipped". Failed tests come last, because a CI often keeps only the end of a log.

import type { Reporter, TestModule } from "vitest/node";

type TestError = ReturnType<TestModule["errors"]>[number];

/** Named in vitest.config.ts, beside the default reporter. */
export class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const counts = { passed: 0, failed: 0, skipped: 0 };
    const skipped: string[] = [];
    const failed: string[] = [];
    for (const testModule of modules) {
      // A file that could not be loaded has no tests to count, but did fail.
      for (const error of testModule.errors().slice(0, 1)) {
        counts.failed += 1;
        failed.push(`failed: ${testModule.relativeModuleId}: ${firstLines(error)}\n`);
      }
      // A hook of a group that failed leaves its tests as skipped.
      for (const group of testModule.children.allSuites()) {
        for (const error of group.errors().slice(0, 1)) {
          counts.failed += 1;
          failed.push(`failed: ${testModule.relativeModuleId}: ${group.fullName}: ${firstLines(error)}\n`);
        }
      }
      for (const test of testModule.children.allTests()) {
        const result = test.result();
        if (result.state === "pending") continue;
        counts[result.state] += 1;
        if (result.state === "failed")
          failed.push(`failed: ${testModule.relativeModuleId}: ${test.fullName}: ${firstLines(result.errors[0])}\n`);
        if (result.state === "skipped")
          skipped.push(`skipped: ${test.fullName}: ${result.note ?? "see the reason printed above"}\n`);
      }
    }
    process.stdout.write(
      `\n${skipped.join("")}${failed.join("")}tests: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`,
    );
  }
}

/** The beginning of an error's message and of its cause's, short enough for a list. */
function firstLines(error: TestError | undefined): string {
  const cause = error?.cause;
  const because = typeof cause === "object" && cause !== null && "message" in cause ? `: ${String(cause.message)}` : "";
  return `${error?.message ?? ""}${because}`.split("\n").slice(0, 6).join(" | ").slice(0, 600);
}
