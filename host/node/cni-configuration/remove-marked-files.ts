// Removes plexusd's network configuration where no daemon is left that would.

import { readConfigurationDirectory } from "../../store/files/configuration-directory.ts";
import { writtenBesides } from "./other-files.ts";
import { removeOwnFile } from "./own-file.ts";

/** The paths that were removed, and the reasons why others were not. */
export interface RemovedMarkedFiles {
  readonly removed: readonly string[];
  readonly problems: readonly string[];
}

/** Removes each file of the runtime's directory that has plexusd's mark, under whatever name; never throws. */
export async function removeMarkedFiles(directory: string): Promise<RemovedMarkedFiles> {
  const read = readConfigurationDirectory(directory);
  if (!read.ok) return { removed: [], problems: [read.fault.msg] };
  const removed: string[] = [];
  const problems: string[] = [];
  for (const path of writtenBesides(read.value, "")) {
    const outcome = await removeOwnFile(path);
    if (outcome.ok) removed.push(path);
    else problems.push(outcome.fault.msg);
  }
  return { removed, problems };
}
