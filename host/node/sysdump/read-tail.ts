// Reads the end of a file that may be large, or that another process writes.

import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

/** The last `maxBytes` of a regular file, and how many bytes are before them; a file of /proc or /sys has size 0 and is read to its end. Throws the system's error. */
export function readTail(path: string, maxBytes: number): { readonly text: string; readonly skipped: number } {
  // O_NONBLOCK: opening a pipe must not block.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw new Error("is not a regular file");
    const skipped = Math.max(0, stats.size - maxBytes);
    const buffer = Buffer.alloc(maxBytes);
    let length = 0;
    for (let size = 1; size > 0 && length < maxBytes; length += size)
      size = readSync(file, buffer, length, maxBytes - length, stats.size === 0 ? null : skipped + length);
    return { text: buffer.subarray(0, length).toString("utf8"), skipped };
  } finally {
    closeSync(file);
  }
}
