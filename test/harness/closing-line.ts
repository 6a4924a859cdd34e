// A reporter that ends a run with the skipped tests and their reasons, and with one line of counts that any CI can parse:
// "tests: N passed, N failed, N skipped".

import type { Reporter, TestModule } from "vitest/node";

/** Named in vitest.config.ts, beside the default reporter. */
export class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const counts = { passed: 0, failed: 0, skipped: 0 };
    const skipped: string[] = [];
    for (const testModule of modules) {
      // A file that could not be loaded has no tests to count, but did fail.
      if (testModule.errors().length > 0) counts.failed += 1;
      for (const test of testModule.children.allTests()) {
        const result = test.result();
        if (result.state === "pending") continue;
        counts[result.state] += 1;
        if (result.state === "skipped")
          skipped.push(`skipped: ${test.fullName}: ${result.note ?? "see the reason printed above"}\n`);
      }
    }
    process.stdout.write(
      `\n${skipped.join("")}tests: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`,
    );
  }
}
