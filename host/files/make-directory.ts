// Making a directory with those above it.

import { mkdirSync } from "node:fs";
import { dirname } from "node:path";

/**
 * As `mkdir -p`, each for its owner alone. Throws the system's error: Node's own recursive call says ENOENT of a read-only file
 * system, so what fails with that is tried once more, directory by directory.
 */
export function makeDirectory(path: string): void {
  const mode = 0o700;
  try {
    mkdirSync(path, { recursive: true, mode });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
    makeDirectory(dirname(path));
    mkdirSync(path, { mode });
  }
}
