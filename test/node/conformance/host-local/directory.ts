// Reads a data directory for comparisons: every file of every network with its content.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Contents by `network/file`, without the lock file, which is empty and which the first user makes.
 */
export function contents(dataDir: string): Readonly<Record<string, string>> {
  const files: Record<string, string> = {};
  if (!existsSync(dataDir)) return files;
  for (const entry of readdirSync(dataDir, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || entry.name === "lock") continue;
    const path = join(entry.parentPath, entry.name);
    files[path.slice(dataDir.length + 1)] = readFileSync(path, "latin1");
  }
  return files;
}
