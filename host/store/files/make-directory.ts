// Making a directory with those above it. Node's own recursive call goes round for ever where the system says ENOENT of a directory
// whose parent is there, as in /proc, and says ENOENT of a read-only file system.

import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * As `mkdir -p`, each with `mode` (for its owner alone, unless said otherwise) less the umask. Answers whether the directory itself
 * was made. Throws the system's error.
 */
export function makeDirectory(path: string, mode = 0o700): boolean {
  try {
    return makeOne(path, mode);
  } catch (error) {
    const parent = dirname(path);
    if (!isCode(error, "ENOENT") || parent === path) throw error;
    makeDirectory(parent, mode);
    return makeOne(path, mode);
  }
}

function makeOne(path: string, mode: number): boolean {
  try {
    mkdirSync(path, { mode });
    return true;
  } catch (error) {
    // EEXIST, but also EROFS and EISDIR of some file systems.
    if (isCode(error, "ENOENT") || !isDirectory(path)) throw error;
    return false;
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
