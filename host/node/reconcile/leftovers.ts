// Removes the half-written files that killed calls leave besides their journal entries. They do no harm, so they are removed only while no call runs.

import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { CallLocks } from "../../engine/call/call-locks.ts";
import { removeTornWrites } from "../../store/files/durable-file.ts";
import { abandonedDirectory } from "../../store/journal/abandoned.ts";

/** Subdirectories of the state directory in which files are written under a temporary name. */
const writtenDirectories = ["journal", "results", abandonedDirectory, "configurations"];

/** Subdirectories of the state directory with a temporary file older than `before` (time of day). */
export function leftoversIn(stateDirectory: string, before: number): readonly string[] {
  return writtenDirectories.map((name) => join(stateDirectory, name)).filter((path) => hasOld(path, before));
}

/** Removes the leftovers, if no call is under way. Answers whether it did. */
export async function removeLeftovers(stateDirectory: string, locks: CallLocks): Promise<boolean> {
  const lock = await locks.everything();
  if (!lock.ok) return false;
  try {
    for (const name of writtenDirectories) removeTornWrites(join(stateDirectory, name));
    return true;
  } finally {
    lock.value();
  }
}

function hasOld(directory: string, before: number): boolean {
  try {
    return readdirSync(directory).some((name) => {
      const stats = name.startsWith(".") ? lstatSync(join(directory, name), { throwIfNoEntry: false }) : undefined;
      return stats !== undefined && stats.mtimeMs < before;
    });
  } catch {
    return false;
  }
}
