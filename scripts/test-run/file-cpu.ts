// Runs in each worker: appends the CPU time of each test file, with that of the processes that it waited for, to the file that PLEXUS_FILE_CPU names.

import { appendFileSync, readFileSync } from "node:fs";
import { afterAll, expect } from "vitest";

const path = process.env["PLEXUS_FILE_CPU"] ?? "";
/** User and system time of this process, then of its ended children, in seconds (proc_pid_stat(5)). */
const times = (): readonly number[] =>
  readFileSync("/proc/self/stat", "utf8")
    .split(") ")
    .at(-1)
    ?.split(" ")
    .slice(11, 15)
    .map((ticks) => Number(ticks) / 100) ?? [];

const state = globalThis as { plexusCpu?: readonly number[] };
if (path !== "") {
  state.plexusCpu ??= times();
  afterAll(() => {
    const now = times();
    const used = now.map((each, index) => (each - (state.plexusCpu?.[index] ?? 0)).toFixed(1));
    state.plexusCpu = now;
    appendFileSync(path, `${expect.getState().testPath ?? ""} ${used.join(" ")}\n`);
  });
}
