// Replaces several files so that a failure before the last step changes none of them: all are written under temporary names first.

import { closeSync, constants, fchmodSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { storeFault, syncDirectory } from "../../../host/store/files/durable-file.ts";
import { makeDirectory } from "../../../host/store/files/make-directory.ts";

/** A file to be written. */
export interface StagedFile {
  readonly path: string;
  readonly content: Uint8Array | string;
}

const mode = 0o644;
const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;

/** The temporary name: hidden and not *.wasm, so that no call takes the file for a plugin. */
function temporaryOf(path: string): string {
  return join(dirname(path), `.${basename(path)}.new`);
}

/** Writes all files, then renames them in this order. Fault STORE_FAILED; if a file could not be written, no file has changed. */
export function replaceFiles(files: readonly StagedFile[]): Result<void> {
  try {
    for (const { path, content } of files) writeTemporary(path, content);
  } catch (error) {
    removeTemporaries(files);
    return failed(storeFault("writing", files.map(({ path }) => path).join(", "), error));
  }
  for (const { path } of files) {
    try {
      renameSync(temporaryOf(path), path);
      syncDirectory(dirname(path));
    } catch (error) {
      removeTemporaries(files);
      return failed(storeFault("writing", path, error));
    }
  }
  return ok(undefined);
}

function removeTemporaries(files: readonly StagedFile[]): void {
  for (const { path } of files) {
    try {
      rmSync(temporaryOf(path), { force: true });
    } catch {
      // Pulling wrote nothing there: the directory is a file, for example.
    }
  }
}

function writeTemporary(path: string, content: Uint8Array | string): void {
  makeDirectory(dirname(path), 0o755);
  const temporary = temporaryOf(path);
  rmSync(temporary, { force: true });
  const file = openSync(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
  try {
    // Regardless of the umask: a daemon without root's rights reads components, too.
    fchmodSync(file, mode);
    writeFileSync(file, content);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
