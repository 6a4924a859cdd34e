// Makes a directory and its missing parents. Node's recursive mkdir loops for ever if the kernel answers ENOENT although the parent
// exists, as in /proc, and it reports ENOENT for a read-only file system.

import { closeSync, constants, fchmodSync, fstatSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { modeIn, orAskRoot } from "./shared-with-root.ts";

/** The bits of a mode that a usual umask takes away. */
const othersBits = 0o077;

/**
 * As `mkdir -p`; each new directory gets `mode`, whatever the umask: an administrator's 077 would close Plexus' programs to sandbox processes. Answers whether the last directory of the path was made. Throws the
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

/** As mkdir(2); in a directory that root shares with a daemon's group, the group gets the owner's rights. Throws the system's error, also EEXIST. */
export function makeNewDirectory(path: string, mode: number): void {
  const wanted = modeIn(dirname(path), mode);
  orAskRoot(path, () => mkdirSync(path, { mode }));
  if (wanted !== mode) setMode(path, wanted);
}

function makeOne(path: string, mode: number): boolean {
  try {
    makeNewDirectory(path, mode);
    if ((mode & othersBits) !== 0) setMode(path, modeIn(dirname(path), mode));
    return true;
  } catch (error) {
    // Usually EEXIST; some file systems answer EROFS or EISDIR for an existing directory.
    if (isCode(error, "ENOENT") || !isDirectory(path)) throw error;
    return false;
  }
}

function setMode(path: string, mode: number): void {
  const directory = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    // The set-group-ID bit is the parent's.
    fchmodSync(directory, mode | (fstatSync(directory).mode & 0o2000));
  } finally {
    closeSync(directory);
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
