// Writes files that several processes replace without a lock. Each process has a temporary file of its own: with one for all, a writer would rename the
// other's unfinished file. The last rename decides the content.

import { readdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Result } from "../../../src/fault/result.ts";
import { removeQuietly, replaceFile, temporaryOf } from "./durable-file.ts";

/** Age in ms of a temporary file that a write which still runs can't have. */
const staleMs = 60_000;

/** As `writeDurably`, for a file that other processes may write at the same time. `durably: false`: as `writeWhole`. Fault STORE_FAILED. */
export function writeShared(path: string, content: string, durably = true): Result<void> {
  const written = replaceFile(path, content, durably, `${temporaryOf(path)}.${process.pid}`);
  if (written.ok) removeStale(path);
  return written;
}

/** Removes temporary files that killed writers have left. The age is that before the file's last write, so that no clock is compared with the disk's. */
function removeStale(path: string): void {
  const prefix = `${basename(temporaryOf(path))}.`;
  try {
    const { mtimeMs } = statSync(path);
    for (const name of readdirSync(dirname(path))) {
      const temporary = join(dirname(path), name);
      if (name.startsWith(prefix) && mtimeMs - statSync(temporary).mtimeMs > staleMs) removeQuietly(temporary);
    }
  } catch {
    // Another writer has removed or renamed the file meanwhile. The next write looks again.
  }
}
