// Writing a file so that a crash leaves the old content or the new one, never a part of it; durably, where a power loss must, too.

import { closeSync, fsyncSync, lstatSync, openSync, readdirSync, renameSync, unlinkSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { fault, type Fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { errnoOf } from "./errno.ts";
import { makeDirectory } from "./make-directory.ts";
import type { Spares } from "./spares.ts";

/** A fault of a store: which operation on which path, and the system's reason. */
export function storeFault(doing: string, path: string, error: unknown): Fault {
  return fault("STORE_FAILED", `${doing} ${path}: ${error instanceof Error ? error.message : String(error)}`);
}

/**
 * Replaces `path` by `content`, durably: temporary file, fsync, rename, fsync of the directory (mode 0600, directory
 * 0700). The temporary name is the path's own with a dot before it, so that a crash leaves at most one, which the next write
 * takes over or the removal takes along.
 */
export function writeDurably(path: string, content: string): Result<void> {
  return replaceFile(path, content, true);
}

/** As `writeDurably`, but a power loss may leave the old content, the new one or an empty file: for what the journal knows, too. */
export function writeWhole(path: string, content: string): Result<void> {
  return replaceFile(path, content, false);
}

function replaceFile(path: string, content: string, durably: boolean): Result<void> {
  const directory = dirname(path);
  const temporary = temporaryOf(path);
  try {
    makeDirectory(directory);
    // Made anew: what stands there may be what a crash left, or a link or a pipe that somebody put there.
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
 * Removes a file and what an interrupted write left of it; one that isn't there counts as removed. It is kept among `spares` where
 * they have use for it.
 */
export function removeFile(path: string, spares?: Spares): Result<void> {
  for (const each of [temporaryOf(path), path]) {
    try {
      if (isStillThere(each, spares)) unlinkSync(each);
    } catch (error) {
      if (errnoOf(error) !== "ENOENT") return failed(storeFault("removing", each, error));
    }
  }
  return ok(undefined);
}

/** Looked for first: nearly always one is missing, and a thrown ENOENT costs more. */
function isStillThere(path: string, spares: Spares | undefined): boolean {
  if (spares !== undefined) return spares.keep(path) === "there";
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // Removing it says why.
    return true;
  }
}

/** Removes what interrupted writes left in a directory. Only while nobody writes there. Best effort: it harms nobody. */
export function removeTornWrites(directory: string): void {
  try {
    for (const name of readdirSync(directory)) if (name.startsWith(".")) removeQuietly(join(directory, name));
  } catch {
    // No directory, or none that can be read.
  }
}

/** Where a file is written before it gets its name. */
export function temporaryOf(path: string): string {
  const name = path.lastIndexOf("/") + 1;
  return `${path.slice(0, name)}.${path.slice(name)}`;
}

function writeNew(path: string, content: string, sync: boolean): void {
  const file = openSync(path, "wx", 0o600);
  try {
    const bytes = Buffer.from(content);
    for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done);
    if (sync) fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Makes what was renamed or removed in a directory survive a power loss. */
export function syncDirectory(path: string): void {
  const directory = openSync(path, "r");
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

/** Best effort. */
export function removeQuietly(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // The write's own error is what counts; a left-over temporary is taken over by the next write.
  }
}
