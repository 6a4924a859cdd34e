// Writes a file so that a crash leaves the old content or the new one, never a part. A durable write holds this for a power loss, too.

import { closeSync, fsyncSync, lstatSync, openSync, readdirSync, renameSync, rmdirSync, unlinkSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { fault, type Fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { errnoOf } from "./errno.ts";
import { makeDirectory } from "./make-directory.ts";
import type { RecycledFiles } from "./recycled-files.ts";
import { newFile, openMade } from "./shared-with-root.ts";

/** Fault STORE_FAILED: the operation (`doing`, for example "writing"), its path and the system's reason. */
export function storeFault(doing: string, path: string, error: unknown): Fault {
  return fault("STORE_FAILED", `${doing} ${path}: ${error instanceof Error ? error.message : String(error)}`);
}

/**
 * Replaces `path` by `content`, durably: temporary file, fsync, rename, fsync of the directory (mode 0600, directory 0700). A
 * crash leaves at most one temporary file for each path, which the next write replaces and `removeFile` removes. No other process may write `path`
 * meanwhile: see `writeShared`. Fault STORE_FAILED.
 */
export function writeDurably(path: string, content: string): Result<void> {
  return replaceFile(path, content, true, temporaryOf(path));
}

/** As `writeDurably`, without fsync: a power loss may leave the old content, the new one or an empty file. */
export function writeWhole(path: string, content: string): Result<void> {
  return replaceFile(path, content, false, temporaryOf(path));
}

/** Replaces `path` by `content` by way of the file `temporary` in the same directory. `durably`: with fsync. Fault STORE_FAILED. */
export function replaceFile(path: string, content: string, durably: boolean, temporary: string): Result<void> {
  const directory = dirname(path);
  try {
    makeDirectory(directory);
    // The temporary file is always a new one: a crash may have left one, or another process may have put a link or a pipe there.
    removeQuietly(temporary);
    writeNew(temporary, content, durably);
    renameSync(temporary, path);
    if (durably) syncDirectory(directory);
    return ok(undefined);
  } catch (error) {
    removeQuietly(temporary);
    return failed(storeFault("writing", path, error));
  }
}

/**
 * Removes a file and the temporary file of an interrupted write. A missing file counts as removed, and so does a directory in the temporary
 * file's place: no write made it, and it hides nothing. With `recycledFiles`, the file may be kept for reuse. Fault STORE_FAILED.
 */
export function removeFile(path: string, recycledFiles?: RecycledFiles): Result<void> {
  const temporary = temporaryOf(path);
  for (const each of [temporary, path]) {
    try {
      if (mustUnlink(each, recycledFiles)) unlinkSync(each);
    } catch (error) {
      if (!countsAsRemoved(error, each === temporary)) return failed(storeFault("removing", each, error));
    }
  }
  return ok(undefined);
}

/** Whether the error of unlink(2) leaves nothing to remove: no file, a name that no file can have, or a directory in the place of a `temporary` file. */
export function countsAsRemoved(error: unknown, temporary: boolean): boolean {
  const errno = errnoOf(error);
  return errno === "ENOENT" || errno === "ENAMETOOLONG" || (temporary && errno === "EISDIR");
}

/** Looks before the unlink: nearly always one of both files is missing, and a thrown ENOENT costs more. */
function mustUnlink(path: string, recycledFiles: RecycledFiles | undefined): boolean {
  if (recycledFiles !== undefined) return recycledFiles.keep(path) === "not-kept";
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // The following unlink reports the error.
    return true;
  }
}

/** Removes the temporary files of interrupted writes in a directory. No other process may write there meanwhile. Best effort. */
export function removeTornWrites(directory: string): void {
  try {
    for (const name of readdirSync(directory)) if (name.startsWith(".")) removeQuietly(join(directory, name));
  } catch {
    // The directory is missing or unreadable.
  }
}

/** The path of a file until it is complete: the same path with a dot before the name. */
export function temporaryOf(path: string): string {
  const name = path.lastIndexOf("/") + 1;
  return `${path.slice(0, name)}.${path.slice(name)}`;
}

function writeNew(path: string, content: string, sync: boolean): void {
  const file = openMade(path, newFile, 0o600);
  try {
    const bytes = Buffer.from(content);
    for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done);
    if (sync) fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Makes the renames and removals in a directory survive a power loss. Throws the system's error. */
export function syncDirectory(path: string): void {
  const directory = openSync(path, "r");
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

/** Removes a file, best effort. */
export function removeQuietly(path: string): void {
  try {
    clearPlace(path);
  } catch {
    // The caller reports the error of the write; the next write replaces a left-over temporary file.
  }
}

/** Removes the file, or the empty directory, at the path of a new file. Throws the system's error. */
export function clearPlace(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (errnoOf(error) !== "EISDIR") throw error;
    rmdirSync(path);
  }
}
