// Reads the lock file of installed components.

import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { type LockedComponent, maxLockBytes, readLock } from "../rules/lock-file.ts";
import { storeFault } from "../../../host/store/files/durable-file.ts";
import { errnoOf } from "../../../host/store/files/errno.ts";
import { readRegularFile } from "../../../host/store/files/regular-file.ts";

/** The lock file's components; none if the file does not exist. Fault STORE_FAILED. */
export function readLockFile(path: string): Result<readonly LockedComponent[]> {
  try {
    return readLock(readRegularFile(path, { maxBytes: maxLockBytes, foreign: true }), path);
  } catch (error) {
    return errnoOf(error) === "ENOENT" ? ok([]) : failed(storeFault("reading", path, error));
  }
}
