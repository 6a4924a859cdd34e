// The kind of a file that a command line or a configuration names.

import { type Stats, statSync } from "node:fs";

/**
 * The file's state, links followed; undefined if there is none, or if the system does not tell: missing rights, a circle of links, a name that is too
 * long. Whoever reads the file then gets the system's error.
 */
export function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
