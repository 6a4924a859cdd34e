import { expect, test } from "vitest";

import { timeLines } from "./run-times.ts";

const file = (name: string, durationMs: number, cpuMs: number) => ({
  file: name,
  passed: 1,
  failed: 0,
  skipped: 0,
  durationMs,
  cpuMs,
});
const report = (...files: readonly ReturnType<typeof file>[]) => ({ files, failed: [], skipped: [], stray: [] });

test("each folder of each run has its CPU time, the most first, then come the files that took longest", () => {
  const lines = timeLines([
    {
      name: "test",
      report: report(
        file("src/a.test.ts", 1000, 900),
        file("host/b.test.ts", 2000, 1100),
        file("test/api/c.test.ts", 5000, 9000),
      ),
    },
    { name: "long", report: report(file("test/api/d.long.test.ts", 60_000, 30_000)) },
  ]);
  expect(lines).toEqual([
    "30 s of CPU time, 60 s of file time: long: test/api, 1 files",
    "9 s of CPU time, 5 s of file time: test: test/api, 1 files",
    "2 s of CPU time, 3 s of file time: test: unit, 2 files",
    "slow: long: test/api/d.long.test.ts: 60 s, 30 s of CPU time",
    "slow: test: test/api/c.test.ts: 5 s, 9 s of CPU time",
    "slow: test: host/b.test.ts: 2 s, 1 s of CPU time",
    "slow: test: src/a.test.ts: 1 s, 1 s of CPU time",
  ]);
});

test("ten files are named as slow", () => {
  const files = Array.from({ length: 30 }, (_, number) => file(`src/${number}.test.ts`, number, 0));
  expect(timeLines([{ name: "test", report: report(...files) }]).filter((line) => line.startsWith("slow: "))).toHaveLength(10);
});
