// Where the time of several runs of tests went: by folder, and by file.

import type { TestedFile, TestReport } from "./test-report.ts";

/** The report of one command, such as `npm run test:long`. */
export interface NamedReport {
  readonly name: string;
  readonly report: TestReport;
}

const slowFiles = 10;
const seconds = (ms: number): string => (ms / 1000).toFixed(0);

/** Lines for each command and folder, the most CPU time first, then for the files that took longest. Files run side by side: their durations overlap. */
export function timeLines(reports: readonly NamedReport[]): readonly string[] {
  const files = reports.flatMap(({ name, report }) => report.files.map((file) => ({ ...file, run: name })));
  const groups = Map.groupBy(files, ({ run, file }) => `${run}: ${folderOf(file)}`);
  const sums = [...groups].map(([group, members]) => ({ group, members, cpuMs: sum(members, "cpuMs") }));
  return [
    ...sums
      .toSorted((one, other) => other.cpuMs - one.cpuMs)
      .map(
        ({ group, members, cpuMs }) =>
          `${seconds(cpuMs)} s of CPU time, ${seconds(sum(members, "durationMs"))} s of file time: ${group}, ${members.length} files`,
      ),
    ...files
      .toSorted((one, other) => other.durationMs - one.durationMs)
      .slice(0, slowFiles)
      .map(
        ({ run, file, durationMs, cpuMs }) => `slow: ${run}: ${file}: ${seconds(durationMs)} s, ${seconds(cpuMs)} s of CPU time`,
      ),
  ];
}

/** The place of a test (`test/api`), or `unit` for a test beside its source. */
function folderOf(file: string): string {
  const [first = "", second = ""] = file.split("/");
  if (first === "test") return `test/${second}`;
  return first === "delegates" ? first : "unit";
}

function sum(files: readonly TestedFile[], field: "cpuMs" | "durationMs"): number {
  return files.reduce((total, file) => total + file[field], 0);
}
