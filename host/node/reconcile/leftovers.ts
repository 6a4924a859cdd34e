// Removes what killed calls leave besides their journal entries: half-written files, and nested-call directories. They do no harm, so they
// are removed only while no call runs.

import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { CallLocks } from "../../engine/call/call-context.ts";
import { unusedNestedCallDirectories, removeUnusedNestedCallDirectories } from "../../engine/call/nested-call-directory.ts";
import { removeTornWrites } from "../../store/files/durable-file.ts";
import { abandonedDirectories } from "../../store/journal/abandoned.ts";

/** Directories in which leftovers may be. */
export interface LeftoverPlaces {
  readonly stateDirectory: string;
  /** Directories (`runDir`) in which known calls make nested-call directories. */
  readonly runDirectories: readonly string[];
}

/** Subdirectories of the state directory in which files are written under a temporary name. */
const writtenDirectories = ["journal", "results", ...abandonedDirectories, "configurations"];

/** Directories with a temporary file older than `olderThanMs` (time of day), and nested-call directories that no process holds. */
export function leftoversIn({ stateDirectory, runDirectories }: LeftoverPlaces, olderThanMs: number): readonly string[] {
  const torn = writtenDirectories.map((name) => join(stateDirectory, name)).filter((path) => hasOld(path, olderThanMs));
  return [...torn, ...runDirectories.flatMap(unusedNestedCallDirectories)];
}

/** Removes the leftovers, if no call is under way. Answers whether it did. */
export async function removeLeftovers({ stateDirectory, runDirectories }: LeftoverPlaces, locks: CallLocks): Promise<boolean> {
  const lock = await locks.everything();
  if (!lock.ok) return false;
  try {
    for (const name of writtenDirectories) removeTornWrites(join(stateDirectory, name));
    for (const directory of runDirectories) removeUnusedNestedCallDirectories(directory);
    return true;
  } finally {
    lock.value();
  }
}

function hasOld(directory: string, olderThanMs: number): boolean {
  try {
    return readdirSync(directory).some((name) => {
      const stats = name.startsWith(".") ? lstatSync(join(directory, name), { throwIfNoEntry: false }) : undefined;
      return stats !== undefined && stats.mtimeMs < olderThanMs;
    });
  } catch {
    return false;
  }
}
