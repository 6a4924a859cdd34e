import { readFileSync } from "node:fs";

/** USER_HZ, which is 100 on all architectures that the tests run on. */
const ticksPerSecond = 100;

/** The CPU time so far of a process and of its children that it has waited for, in ms. */
export function processCpuMs(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The program's name, in parentheses, may contain spaces. The third field follows it.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return (ticks * 1000) / ticksPerSecond;
}
