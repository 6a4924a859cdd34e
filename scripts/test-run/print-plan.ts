// The first three lines of `npm test`: what will run, what the machine lacks, and about how long the run takes.

import { existsSync, globSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";

import { root, testDist } from "../../test/lab/compiled.ts";
import { absentPrograms, type OptionalProgram } from "./optional-programs.ts";

/** The folders of `npm test`, in the order of CONTRIBUTING.md's table. */
const places: ReadonlyMap<string, readonly string[]> = new Map([
  ["unit", ["{wit,src,host,features,scripts,bench}/**/*.test.ts"]],
  ...["node", "api", "kit", "ship", "hostile", "docs"].map((place): [string, string[]] => [
    `test/${place}`,
    [`test/${place}/**/*.test.ts`, ...(place === "kit" ? ["delegates/**/*.test.ts"] : [])],
  ]),
]);

/** The time of a run on two processors with filled caches, if this tree has no record of one. */
const usualMinutes = 8;

/** The three lines. `seconds` is the duration of the last whole run here. */
export function planLines(
  counts: ReadonlyMap<string, number>,
  absent: readonly OptionalProgram[],
  seconds: number | undefined,
): readonly string[] {
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const parts = [...counts].map(([place, count]) => `${place} ${count}`).join(", ");
  const lacks = absent.map(({ name, untested, get }) => `${name} (untested: ${untested}; ${get})`).join("; ");
  const time =
    seconds === undefined
      ? `about ${usualMinutes} minutes on two processors once the set-up has built what it needs; here are ${availableParallelism()}`
      : `about ${Math.ceil(seconds / 60)} minutes, as the last run here`;
  return [
    `runs ${total} test files: ${parts}`,
    absent.length === 0 ? "the machine has every optional program" : `the machine lacks ${lacks}`,
    `takes ${time}`,
  ];
}

function lastRunSeconds(): number | undefined {
  const path = join(testDist, "reports", "last-run-seconds");
  return existsSync(path) ? Number(readFileSync(path, "utf8")) : undefined;
}

if (import.meta.main) {
  const exclude = ["**/node_modules/**", "test/kit/languages/**", "**/*.long.test.ts"];
  const counts = new Map([...places].map(([place, patterns]) => [place, globSync(patterns, { cwd: root, exclude }).length]));
  const lines = planLines(counts, absentPrograms(process.env["PATH"] ?? ""), lastRunSeconds());
  process.stderr.write(lines.map((line) => `plexus: ${line}\n`).join(""));
}
