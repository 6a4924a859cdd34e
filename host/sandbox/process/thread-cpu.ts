// The CPU time of another process' first thread, which runs the guests of a sandbox process.

import { readFileSync } from "node:fs";

/** Milliseconds of a clock tick in /proc (USER_HZ is 100). */
const tickMs = 10;

/**
 * The CPU time in ms; undefined if the process has ended. A kernel without scheduler statistics (CONFIG_SCHED_INFO) has no `schedstat`; ticks
 * are then precise enough for limits of seconds.
 */
export function threadCpuMs(pid: number, read: (path: string) => string = text): number | undefined {
  // Nanoseconds on a CPU, nanoseconds of waiting for a CPU, and number of time slices.
  const cpuNs = Number.parseInt(read(`/proc/${pid}/schedstat`), 10);
  if (Number.isFinite(cpuNs)) return cpuNs / 1e6;
  const stat = read(`/proc/${pid}/task/${pid}/stat`);
  // proc(5): the program's name may have spaces and brackets. utime and stime are the fields 14 and 15.
  const [user, system] = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .slice(11, 13)
    .map(Number);
  return user === undefined || system === undefined ? undefined : (user + system) * tickMs;
}

/** The file's content; empty if it cannot be read. */
function text(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
