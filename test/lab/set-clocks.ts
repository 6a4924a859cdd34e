// Writes the offsets that a process with moved-clocks.ts reads. Each read of a clock reads the file, so the file is replaced: a process that met an empty one
// would end.

import { renameSync, writeFileSync } from "node:fs";

/** Sets the offsets of the monotonic clock and of the wall clock, in ms. */
export function setClocks(file: string, monotonicMs: number, wallMs: number): void {
  writeFileSync(`${file}.new`, `${monotonicMs} ${wallMs}`);
  renameSync(`${file}.new`, file);
}
