// Telling whether a file is still what it was, without reading it.

import type { BigIntStats } from "node:fs";

/** Changes whenever the file does: device, inode, size and times of change. */
export function identityOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`;
}

/** Clocks of file systems go in steps of up to some 10 ms (a kernel's tick), those of FAT and some others in steps of seconds. */
const coarsestStepMs = 2_000;

/**
 * Whether a change after `readAt` (milliseconds since the epoch) would show in the file's identity: one that was changed just before it
 * was read may be changed again within the same step of the clock.
 */
export function isSettled({ ctimeMs }: BigIntStats, readAt: number): boolean {
  return readAt - Number(ctimeMs) > coarsestStepMs;
}
