// Reads directories of native host-local: a network's directory, or a data directory with a directory for each network.

import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { HeldAddress, HeldAddresses } from "../rules/import/held-address.ts";
import { readHostLocalLease } from "../rules/import/host-local.ts";
import { readAddress } from "../../../src/net/ip.ts";

/** Maximum bytes of a lease. */
const maxLease = 4096;
/** Maximum number of leases of one import. */
const maxLeases = 262_144;

/** The leases in the directories and one level below. A symbolic link is not followed, and counts as a problem. */
export function readHostLocalDirectories(directories: readonly string[]): HeldAddresses {
  const held: HeldAddress[] = [];
  const problems: string[] = [];
  const read = (directory: string, isTop: boolean): void => {
    for (const name of namesIn(directory, problems)) {
      const path = join(directory, name);
      const stats = lstatSync(path, { throwIfNoEntry: false });
      if (stats?.isDirectory() === true && isTop) read(path, false);
      if (readAddress(name) === undefined) continue;
      if (stats?.isFile() !== true || stats.size > maxLease) {
        problems.push(`${path} is no lease: it is a link, a directory, or too long`);
      } else if (held.length >= maxLeases) {
        problems.push(`${path}: more than ${maxLeases} leases`);
        return;
      } else {
        const lease = readHostLocalLease(name, readFileSync(path, "utf8"), path);
        if (lease.kind === "held") held.push(lease.held);
        if (lease.kind === "problem") problems.push(lease.problem);
      }
    }
  };
  for (const directory of directories) read(directory, true);
  return { held, problems };
}

function namesIn(directory: string, problems: string[]): readonly string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    problems.push(`${directory} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
    return [];
  }
}
