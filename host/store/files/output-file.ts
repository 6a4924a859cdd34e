// A file that a command line names and that a program writes for its user: the page of `plexusctl ui`, an archive, a record of calls. Other users may have
// put a link or a file of their own at the path, or may own a directory of it.

import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  fchmodSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  renameSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { errnoOf } from "./errno.ts";
import { otherUserOf, isRoot } from "./path-owners.ts";

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;

/**
 * Writes the file under a new name beside it, then gives it its name: a reader sees the old content or the new one, and no foreign file is
 * ever written to. Root writes only where no other user can change the path. Fault STORE_FAILED. `replaces`: whether an own file at the path
 * is replaced; false: any file there is a failure. `mode`: 0600 by default: a file for its owner only.
 */
export function writeOutputFile(
  path: string,
  content: string | Uint8Array,
  replaces: boolean,
  mode: number = 0o600,
): Result<void> {
  const refusal = refusalOf(path, replaces);
  if (refusal !== undefined) return failed(fault("STORE_FAILED", `${path} is not written: ${refusal}`));
  const temporary = join(dirname(path), `.${basename(path).slice(0, 200)}.${randomBytes(6).toString("hex")}.new`);
  try {
    writeNew(temporary, content, mode);
    if (replaces) renameSync(temporary, path);
    else {
      // Unlike rename(2), link(2) replaces nothing.
      linkSync(temporary, path);
      unlinkSync(temporary);
    }
    return ok(undefined);
  } catch (error) {
    removeQuietly(temporary);
    const why = error instanceof Error ? error.message.replaceAll(temporary, path) : String(error);
    return failed(fault("STORE_FAILED", `${path} is not written: ${why}`));
  }
}

/** The reason why the file must not be written at this path; undefined if it may. */
export function refusalOf(path: string, replaces: boolean): string | undefined {
  try {
    const otherOwner = isRoot() ? otherUserOf(dirname(resolve(path))) : undefined;
    if (otherOwner !== undefined)
      return `${otherOwner}, who could lead root to another file. Name a file in a directory of root, such as /root, or run the command as that user`;
    const existing = lstatSync(path);
    if (!replaces) return "the file exists, and is never overwritten. Name another one";
    if (!existing.isFile())
      return "a link, a directory or another special file is there. Name another file, or - for stdout if the command has it";
    if (existing.uid !== process.geteuid?.()) return `the file there belongs to the user ${existing.uid}. Name another file`;
    return undefined;
  } catch (error) {
    return errnoOf(error) === "ENOENT" ? undefined : error instanceof Error ? error.message : String(error);
  }
}

function writeNew(path: string, content: string | Uint8Array, mode: number): void {
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  const file = openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done);
    fchmodSync(file, mode);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function removeQuietly(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // The temporary file was not made, or has its final name already.
  }
}
