// How long each test file took when it last ran, in whatever clone: a clean clone begins long files first, so that no worker is left alone with one.

import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

import type { TestedFile } from "./test-report.ts";

const path = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "plexus", "test-durations.json");

/** Milliseconds by the file's path, relative to the project's root. */
export type Durations = Readonly<Record<string, number>>;

/** The known durations; none if there is no such file, or no readable one. */
export function readDurations(): Durations {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Durations;
  } catch {
    return {};
  }
}

/** Adds the files of a run that had tests. */
export function writeDurations(files: readonly TestedFile[]): void {
  const fresh = files.filter(({ passed }) => passed > 0).map(({ file, durationMs }) => [file, Math.round(durationMs)] as const);
  mkdirSync(dirname(path), { recursive: true });
  const unfinished = `${path}.${process.pid}`;
  writeFileSync(unfinished, JSON.stringify({ ...readDurations(), ...Object.fromEntries(fresh) }));
  renameSync(unfinished, path);
}

/** The files in the order in which workers should begin them: unknown ones first, then long ones. */
export function longestFirst<T>(files: readonly T[], nameOf: (file: T) => string, durations: Durations): readonly T[] {
  const of = (file: T): number => durations[nameOf(file)] ?? Number.MAX_SAFE_INTEGER;
  return files.toSorted((one, other) => of(other) - of(one));
}
