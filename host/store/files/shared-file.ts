// Writes files that several processes replace without a lock. Each write has a temporary file of its own: with one for all, a writer would rename the
// other's unfinished file. The last rename decides the content.

import { readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Result } from "../../../src/fault/result.ts";
import { removeQuietly, replaceFile } from "./durable-file.ts";

/** Age in ms of a temporary file that a write which still runs can't have. */
const staleMs = 60_000;

/** Names of temporary files. They do not have the file's name, which may be as long as a file system allows. */
const temporaryName = /^\.[-\da-f]{36}\.shared$/;

/** As `writeDurably`, for a file that other processes may write at the same time. `durably: false`: as `writeWhole`. Fault STORE_FAILED. */
export function writeShared(path: string, content: string, durably = true): Result<void> {
  const written = replaceFile(path, content, durably, join(dirname(path), `.${crypto.randomUUID()}.shared`));
  if (written.ok) removeStale(path);
  return written;
}

/** Removes temporary files that killed writers have left. The age is that before the file's last write, so that no clock is compared with the disk's. */
function removeStale(path: string): void {
  try {
    const { mtimeMs } = statSync(path);
    for (const name of readdirSync(dirname(path))) {
      const temporary = join(dirname(path), name);
      if (temporaryName.test(name) && mtimeMs - statSync(temporary).mtimeMs > staleMs) removeQuietly(temporary);
    }
  } catch {
    // Another writer has removed or renamed the file meanwhile. The next write looks again.
  }
}
