// Detects that a file changed, without reading it.

import type { BigIntStats } from "node:fs";

/** Device, inode, size and times of change: differs after each change of the file, if `isSettled`. */
export function identityOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`;
}

/** File timestamps have a granularity of up to some 10 ms (a kernel's tick); those of FAT and some others have up to 2 s. */
const maxGranularityMs = 2_000;

/**
 * Whether a change after `readAt` (milliseconds since the epoch) changes the file's identity. A file that changed just before it was read
 * may change again with the same timestamp.
 */
export function isSettled({ ctimeMs }: BigIntStats, readAt: number): boolean {
  return readAt - Number(ctimeMs) > maxGranularityMs;
}
