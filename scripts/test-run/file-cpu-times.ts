// The CPU time of each test file: workers add lines to one file of the run, and the reporter reads them.

import { appendFileSync, existsSync, readFileSync } from "node:fs";

/** The environment variable with the path of this run's file of CPU times. Without the variable none is kept. */
export const fileCpuVariable = "PLEXUS_FILE_CPU";

/** Notes that `file`, a path relative to the project's root, took `ms` of CPU time. */
export function noteFileCpu(file: string, ms: number): void {
  const path = process.env[fileCpuVariable];
  // A short line is written by one system call, so concurrent workers may share the file.
  if (path !== undefined) appendFileSync(path, `${JSON.stringify([file, ms])}\n`);
}

/** The CPU time in ms of each test file of this run. */
export function readFileCpu(): ReadonlyMap<string, number> {
  const path = process.env[fileCpuVariable];
  const times = new Map<string, number>();
  if (path === undefined || !existsSync(path)) return times;
  for (const line of readFileSync(path, "utf8").split("\n")) {
    if (line === "") continue;
    const [file, ms] = JSON.parse(line) as readonly [string, number];
    times.set(file, (times.get(file) ?? 0) + ms);
  }
  return times;
}
