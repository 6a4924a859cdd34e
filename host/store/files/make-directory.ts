// Makes a directory and its missing parents. Node's recursive mkdir loops for ever if the kernel answers ENOENT although the parent
// exists, as in /proc, and it reports ENOENT for a read-only file system.

import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * As `mkdir -p`; each new directory gets `mode` less the umask. Answers whether the last directory of the path was made. Throws the
 * system's error.
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
    // Usually EEXIST; some file systems answer EROFS or EISDIR for an existing directory.
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
