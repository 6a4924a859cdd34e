// The findings of a test run, as data: the reporter writes it, the runner merges a run with the repetition of its failed files, and prints the result.

/** A test that failed, or a file or a group that could not run. */
export interface FailedTest {
  /** The file's path, relative to the project's root. */
  readonly file: string;
  /** The test's full title; empty for a file that could not be loaded. */
  readonly test: string;
  /** The first lines of the error's message and of its cause's. */
  readonly message: string;
}

/** Tests that did not run, for one reason. */
export interface SkippedTests {
  readonly reason: string;
  readonly file: string;
  readonly count: number;
}

/** One test file of a run. */
export interface TestedFile {
  readonly file: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Milliseconds of its tests, hooks and imports. */
  readonly durationMs: number;
  /** CPU time in ms, with that of the processes that the worker waited for. 0 if nothing measured it. */
  readonly cpuMs: number;
}

/** A whole run. */
export interface TestReport {
  readonly files: readonly TestedFile[];
  readonly failed: readonly FailedTest[];
  readonly skipped: readonly SkippedTests[];
  /** Messages of errors outside of any test, such as a rejected promise that nobody awaited. */
  readonly stray: readonly string[];
}

/** A run whose failed files ran once more. */
export interface RepeatedRun extends TestReport {
  /** Tests that failed beside others and passed in the repetition. */
  readonly unsteady: readonly FailedTest[];
}

/** Paths of the files with a failure, each once. */
export function failedFiles({ failed }: TestReport): readonly string[] {
  return [...new Set(failed.map(({ file }) => file))].toSorted();
}

/**
 * The result of a run and the repetition of its failed files. The counts of a repeated file are those of the repetition. A failure of the first run
 * is unsteady if its file has no failure in the repetition.
 */
export function mergeRepetition(first: TestReport, repetition: TestReport | undefined): RepeatedRun {
  if (repetition === undefined) return { ...first, unsteady: [] };
  const repeated = new Map(repetition.files.map((file) => [file.file, file]));
  const stillFailing = new Set(failedFiles(repetition));
  const cleared = (file: string): boolean => repeated.has(file) && !stillFailing.has(file);
  return {
    files: first.files.map((file) => repeated.get(file.file) ?? file),
    failed: [...first.failed.filter(({ file }) => !repeated.has(file)), ...repetition.failed],
    skipped: [...first.skipped.filter(({ file }) => !repeated.has(file)), ...repetition.skipped],
    stray: [...first.stray, ...repetition.stray],
    unsteady: first.failed.filter(({ file }) => cleared(file)),
  };
}

/** Whether a run is green: no failure is left, and some test ran. */
export function isGreen(run: RepeatedRun): boolean {
  return run.failed.length === 0 && run.stray.length === 0 && run.files.some(({ passed }) => passed > 0);
}

const slowFiles = 5;
/** A broken tree can fail in thousands of tests; the first ones tell why. */
const maxFailureLines = 60;

/** The last lines of a run: skipped tests by reason, the slowest files, failures, unsteady tests, and the line of counts. */
export function closingText(run: RepeatedRun): string {
  const { passed, failed, skipped } = countsOf(run);
  return [
    ...skippedLines(run.skipped),
    ...run.files
      .toSorted((a, b) => b.durationMs - a.durationMs)
      .slice(0, slowFiles)
      .map(({ file, durationMs }) => `slow: ${file}: ${(durationMs / 1000).toFixed(1)} s`),
    ...run.stray.map((message) => `failed: outside of any test: ${message}`),
    ...run.failed.slice(0, maxFailureLines).map((each) => `failed: ${lineOf(each)}`),
    ...(run.failed.length > maxFailureLines ? [`failed: ${run.failed.length - maxFailureLines} more: see above`] : []),
    ...unsteadyLines(run),
    `tests: ${passed} passed, ${failed} failed, ${skipped} skipped`,
    "",
  ].join("\n");
}

/** One line for each unsteady test. */
export function unsteadyLines({ unsteady }: RepeatedRun): readonly string[] {
  return unsteady.map((each) => `unsteady: ${lineOf(each)}`);
}

/** The counts of the closing line. A file or a group that could not run counts as one failure. */
export function countsOf(run: RepeatedRun): { readonly passed: number; readonly failed: number; readonly skipped: number } {
  const sum = (of: (file: TestedFile) => number): number => run.files.reduce((total, file) => total + of(file), 0);
  return {
    passed: sum((file) => file.passed),
    failed: run.failed.length + run.stray.length,
    skipped: sum((file) => file.skipped),
  };
}

function lineOf({ file, test, message }: FailedTest): string {
  return [file, test, message].filter((part) => part !== "").join(": ");
}

function skippedLines(skipped: readonly SkippedTests[]): readonly string[] {
  const groups = new Map<string, { count: number; files: number }>();
  for (const { reason, count } of skipped) {
    const group = groups.get(reason) ?? { count: 0, files: 0 };
    groups.set(reason, { count: group.count + count, files: group.files + 1 });
  }
  return [...groups]
    .toSorted(([, a], [, b]) => b.count - a.count)
    .map(([reason, { count, files }]) => `skipped: ${count} tests in ${files} ${files === 1 ? "file" : "files"}: ${reason}`);
}
