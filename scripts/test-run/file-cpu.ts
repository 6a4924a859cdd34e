// Runs in each worker: appends the CPU time of each test file, with that of the processes that the worker waited for, to the run's file of CPU times.

import { relative } from "node:path";
import { afterAll, expect } from "vitest";

import { root } from "../../test/lab/compiled.ts";
import { cpuMsOf } from "../../test/lab/cpu-ms.ts";
import { noteFileCpu } from "./file-cpu-times.ts";

// A worker keeps its globals for all of its files: the time of a file's imports counts for the file.
const state = globalThis as { plexusCpuMs?: number };
state.plexusCpuMs ??= cpuMsOf(process.pid);
afterAll(() => {
  const now = cpuMsOf(process.pid);
  noteFileCpu(relative(root, expect.getState().testPath ?? ""), now - (state.plexusCpuMs ?? 0));
  state.plexusCpuMs = now;
});
