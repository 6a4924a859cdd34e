// Runs vitest, repeats the files that failed, alone, and prints the end of the run: `run-tests.ts NAME [--repeat-failed] [vitest arguments]`.
// A failure that a repetition does not confirm leaves the run green and is printed as `unsteady`.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { root, testDist } from "../../test/lab/compiled.ts";
import { skipReasonsVariable } from "../../test/lab/skip-reasons.ts";
import { fileCpuVariable } from "./file-cpu-times.ts";
import { writeDurations } from "./known-durations.ts";
import { repetitionArgs } from "./repetition-args.ts";
import { closingText, failedFiles, isGreen, mergeRepetition, unsteadyLines, type TestReport } from "./test-report.ts";

/** With more failed files than this, the tree is broken, and a repetition would only take time. */
const maxRepeatedFiles = 12;

const [name = "tests", ...rest] = process.argv.slice(2);
const repeats = rest.includes("--repeat-failed");
const vitestArgs = rest.filter((argument) => argument !== "--repeat-failed");
const reports = join(testDist, "reports");
const unsteadyFile = join(testDist, "unsteady.txt");

/**
 * Tests start thousands of processes, and fork(2) copies the page tables of the worker: 6.7 ms at 250 MB. With huge pages for malloc, 1.1 ms.
 * glibc reads the variable at a process' start; other C libraries ignore it. Tests hand it to no program: see test/lab/worker-memory.ts.
 */
const hugePages = { GLIBC_TUNABLES: "glibc.malloc.hugetlb=1" };

interface VitestRun {
  readonly status: number;
  /** Absent if vitest ended before it wrote the report. */
  readonly report: TestReport | undefined;
}

async function runVitest(label: string, args: readonly string[]): Promise<VitestRun> {
  const path = join(reports, `${label}.json`);
  const reasons = join(reports, `${label}.skipped`);
  const cpu = join(reports, `${label}.cpu`);
  for (const each of [path, reasons, cpu]) rmSync(each, { force: true });
  const child = spawn(process.execPath, [join(root, "node_modules/vitest/vitest.mjs"), "run", ...args], {
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, ...hugePages, PLEXUS_TEST_REPORT: path, [skipReasonsVariable]: reasons, [fileCpuVariable]: cpu },
  });
  const [code] = await once(child, "exit");
  const report = existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as TestReport) : undefined;
  return { status: typeof code === "number" ? code : 1, report };
}

mkdirSync(reports, { recursive: true });
const startedMs = performance.now();
const first = await runVitest(name, vitestArgs);
if (first.report === undefined) {
  process.stderr.write(`plexus: vitest ended with status ${first.status} before it wrote its report\n`);
  process.exit(1);
}
const failed = failedFiles(first.report);
let repetition: TestReport | undefined;
if (repeats && failed.length > 0 && failed.length <= maxRepeatedFiles) {
  process.stdout.write(`\nplexus: repeating ${failed.length} failed ${failed.length === 1 ? "file" : "files"} alone\n`);
  ({ report: repetition } = await runVitest(`${name}-repeated`, [...repetitionArgs(vitestArgs), "--maxWorkers", "1", ...failed]));
}
const run = mergeRepetition(first.report, repetition);
writeFileSync(join(reports, `${name}.json`), JSON.stringify(run));
writeDurations(first.report.files);
process.stdout.write(`\n${closingText(run)}`);
if (name === "test") writeFileSync(join(reports, "last-run-seconds"), String(Math.ceil((performance.now() - startedMs) / 1000)));
const unsteady = unsteadyLines(run);
if (unsteady.length > 0) appendFileSync(unsteadyFile, `${unsteady.join("\n")}\n`);
// vitest also fails by a global set-up's tear-down, which no test reports.
const isUnexplained = first.status !== 0 && failed.length === 0 && first.report.stray.length === 0;
if (isUnexplained) process.stderr.write(`plexus: vitest ended with status ${first.status}, although no test failed: see above\n`);
process.exit(isGreen(run) && !isUnexplained ? 0 : 1);
