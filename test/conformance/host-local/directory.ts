// A data directory as it is compared: every file of every network with its bytes.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * `network/file` → content. Left out: the lock, which has no content and which whoever takes it makes, and the
 * directory beside the networks in which Plexus stages (that it is empty is checked by `staged`).
 */
export function contents(dataDir: string): Readonly<Record<string, string>> {
  const files: Record<string, string> = {};
  if (!existsSync(dataDir)) return files;
  for (const entry of readdirSync(dataDir, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || entry.name === "lock" || entry.parentPath.includes("/.plexus")) continue;
    const path = join(entry.parentPath, entry.name);
    files[path.slice(dataDir.length + 1)] = readFileSync(path, "latin1");
  }
  return files;
}

/** What lies in the staging directories: nothing, once a call has ended. */
export function staged(dataDir: string): readonly string[] {
  const staging = join(dataDir, ".plexus");
  if (!existsSync(staging)) return [];
  return readdirSync(staging, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name);
}
