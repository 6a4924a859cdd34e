// plexusd's file in the runtime's directory of network configurations: replaced as a whole or not at all, and never in the place of a file
// of another program.

import { renameSync } from "node:fs";
import { link, open, readdir, unlink } from "node:fs/promises";
import { randomBytes } from "node:crypto";
import { dirname, join } from "node:path";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { configurationFile } from "../../store/files/configuration-directory.ts";
import { syncDirectory, storeFault } from "../../store/files/durable-file.ts";
import { errnoOf } from "../../store/files/errno.ts";
import { readRegularFile } from "../../store/files/regular-file.ts";

/** The end of a temporary file's name. Runtimes read only `.conf`, `.conflist` and `.json`, and read hidden files, too. */
const temporaryEnding = ".plexusd-new";

/** Changes plexusd's files: this process itself, or a daemon's launch server. */
export interface OwnFiles {
  /** See `writeOwnFile`. */
  readonly write: (path: string, text: string, replaces: boolean, expected?: string) => Promise<Result<boolean>>;
  /** See `removeOwnFile`. */
  readonly remove: (path: string) => Promise<Result<void>>;
}

/**
 * Writes the file durably, with mode 0600. `replaces`: whether a file of plexusd is there; without one a file that another program has just
 * created stays. `expected`: the text to replace; if another program has just changed it, the file stays and the answer is false. Several
 * daemons may write at the same time. Faults: STORE_FAILED.
 */
export async function writeOwnFile(path: string, text: string, replaces: boolean, expected?: string): Promise<Result<boolean>> {
  const temporary = `${path}.${randomBytes(6).toString("hex")}${temporaryEnding}`;
  try {
    const file = await open(temporary, "wx", 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    if (expected !== undefined && readRegularFile(path, configurationFile) !== expected) {
      await unlink(temporary);
      return ok(false);
    }
    if (replaces) renameSync(temporary, path);
    else {
      await link(temporary, path);
      await unlink(temporary);
    }
    syncDirectory(dirname(path));
    return ok(true);
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    // Each attempt has another temporary file, whose name says nothing.
    const why = error instanceof Error ? error.message.replaceAll(temporary, path) : String(error);
    return failed(storeFault("writing", path, why));
  }
}

/** Removes a file of plexusd; a missing file counts as removed. Fault STORE_FAILED. */
export async function removeOwnFile(path: string): Promise<Result<void>> {
  try {
    await unlink(path);
    syncDirectory(dirname(path));
    return ok(undefined);
  } catch (error) {
    return errnoOf(error) === "ENOENT" ? ok(undefined) : failed(storeFault("removing", path, error));
  }
}

/** This process changes the files. */
export const directFiles: OwnFiles = { write: writeOwnFile, remove: removeOwnFile };

/** Removes the temporary files of daemons that were killed while writing. Best effort. */
export async function removeTemporaries(directory: string, { remove }: OwnFiles): Promise<void> {
  try {
    for (const name of await readdir(directory)) if (name.endsWith(temporaryEnding)) await remove(join(directory, name));
  } catch {
    // The next read of the directory reports the reason.
  }
}
