// The names in a directory of plugins that lead to the shim. A configuration with such a type runs Plexus, whatever the name says.

import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** Names of the symbolic and hard links to `plexus` in the directory; none if the directory or the shim is missing. */
export function shimLinks(directory: string): readonly string[] {
  try {
    const shim = statSync(join(directory, "plexus"), { bigint: true });
    return readdirSync(directory).filter((name) => {
      const file = statSync(join(directory, name), { bigint: true, throwIfNoEntry: false });
      return file !== undefined && file.ino === shim.ino && file.dev === shim.dev;
    });
  } catch {
    return [];
  }
}
