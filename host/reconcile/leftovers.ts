// What calls that were killed leave in a state directory besides their entries: files that were being written, and directories of
// nested calls. None of it is wrong or in anybody's way, so it is taken away when nobody is at work.

import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { CallLocks } from "../brain/call-context.ts";
import { abandonedNests, removeAbandonedNests } from "../brain/nest-directory.ts";
import { removeTornWrites } from "../files/durable-file.ts";

export interface LeftoverPlaces {
  readonly stateDirectory: string;
  /** Where directories of nested calls are made, as far as that is known. */
  readonly runDirectories: readonly string[];
}

/** The directories of a state directory in which files are written by a temporary name. */
const written = ["journal", "results", "left-behind", "configurations"];

/** Directories with something in them that is older than `olderThanMs` (time of day) and that no call needs; and nests that nobody holds. */
export function leftoversIn({ stateDirectory, runDirectories }: LeftoverPlaces, olderThanMs: number): readonly string[] {
  const torn = written.map((name) => join(stateDirectory, name)).filter((path) => hasOld(path, olderThanMs));
  return [...torn, ...runDirectories.flatMap(abandonedNests)];
}

/** Takes them away if no call is under way at this moment; answers whether none was. */
export async function removeLeftovers({ stateDirectory, runDirectories }: LeftoverPlaces, locks: CallLocks): Promise<boolean> {
  const alone = await locks.everything();
  if (!alone.ok) return false;
  try {
    for (const name of written) removeTornWrites(join(stateDirectory, name));
    for (const directory of runDirectories) removeAbandonedNests(directory);
    return true;
  } finally {
    alone.value();
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
