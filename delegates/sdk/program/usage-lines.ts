// The report of `run`: what a call used, against the limits.

import type { Limits } from "../../../host/sandbox/limits.ts";
import type { Usage } from "../component/run.ts";

/** One line for each limit. A value at or above its limit is marked, and red if `colour` is set. */
export function usageLines(usage: Usage, limits: Limits, colour: boolean): readonly string[] {
  const rows: readonly (readonly [what: string, used: number | undefined, limit: number, unit: string])[] = [
    ["time", Math.round(usage.timeMs * 10) / 10, limits.timeMs, "ms"],
    ["memory", usage.memoryBytes, limits.memoryPages * 65_536, "bytes"],
    ["input", usage.inputBytes, limits.inputBytes, "bytes"],
    ["output", usage.outputBytes, limits.outputBytes, "bytes"],
    ["log", usage.logBytes, limits.logBytes, "bytes"],
    ["log lines", usage.logLines, limits.logLines, "lines"],
    ["imports", usage.importCalls, limits.importCalls, "calls"],
  ];
  const lines = rows.map(([what, used, limit, unit]) => {
    if (used === undefined) return `  ${what.padEnd(10)} unknown, of ${limit} ${unit} (the component gave no answer)`;
    const isOver = used >= limit;
    const text = `  ${what.padEnd(10)} ${used} of ${limit} ${unit}${isOver ? " OVER THE LIMIT" : ""}`;
    return isOver && colour ? `\u001b[31m${text}\u001b[0m` : text;
  });
  const calls = Object.entries(usage.imports).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return [...lines, ...calls.map(([name, count]) => `    ${name}: ${count}`)];
}
