// CPU time, for bounds of computations: a busy machine makes only the elapsed time longer.

import { readFileSync } from "node:fs";

/** Clock ticks per second in /proc (USER_HZ), the same on all architectures that Plexus supports. */
const ticksPerSecond = 100;

/** The CPU time of this thread so far, in ms. */
export function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** The CPU time so far of another process and of its children that it has waited for, in ms. */
export function cpuMsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The program's name may have spaces and brackets. utime, stime, cutime and cstime are fields 14 to 17 of proc(5).
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return (ticks * 1000) / ticksPerSecond;
}
