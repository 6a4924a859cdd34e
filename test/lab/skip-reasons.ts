// Why test files skip tests: each worker adds its reasons to one file, and the reporter groups the skipped tests by them.

import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { relative } from "node:path";

import { root } from "./compiled.ts";

/** The environment variable with the path of this run's file of reasons. Without it, reasons are printed. */
export const skipReasonsVariable = "PLEXUS_TEST_SKIP_REASONS";

const printed = new Set<string>();

/** Notes that a suite of the file being loaded is skipped. Without a file of reasons the reason is printed, once for each process. */
export function noteSkipped(suite: string, reason: string): void {
  const path = process.env[skipReasonsVariable];
  if (path !== undefined) {
    // A short line is written by one system call, so concurrent workers may share the file.
    appendFileSync(path, `${JSON.stringify([currentFile(), reason])}\n`);
    return;
  }
  const line = `skipped: ${suite}: ${reason}\n`;
  if (!printed.has(line)) process.stderr.write(line);
  printed.add(line);
}

/** The reasons of each test file of this run, by the file's path relative to the project's root. */
export function readSkipReasons(): ReadonlyMap<string, readonly string[]> {
  const path = process.env[skipReasonsVariable];
  const reasons = new Map<string, readonly string[]>();
  if (path === undefined || !existsSync(path)) return reasons;
  for (const line of readFileSync(path, "utf8")
    .split("\n")
    .filter((each) => each !== "")) {
    const [file = "", reason = ""] = JSON.parse(line) as readonly string[];
    const known = reasons.get(file) ?? [];
    if (!known.includes(reason)) reasons.set(file, [...known, reason]);
  }
  return reasons;
}

/** The test file that this worker is loading. vitest has no function for it outside of a test. */
function currentFile(): string {
  const worker: unknown = Reflect.get(globalThis, "__vitest_worker__");
  const path: unknown = typeof worker === "object" && worker !== null ? Reflect.get(worker, "filepath") : undefined;
  return typeof path === "string" ? relative(root, path) : "";
}
