// How far V8 lets its heap grow beyond what lives in it before it collects what doesn't. Left to itself it decides that by how fast the
// program allocates and how fast the last collections were, up to fourfold: of 18 MiB that live a burst of calls left 36 MiB once and 49
// another time (measured with daemon-rss-large), and what an idle process holds it does not give back.

import { setFlagsFromString } from "node:v8";

/** Percent beyond what lives, and at least some 8 MiB: so a heap of this size is collected no more often than in its better runs. */
const mostPercent = 30;

/** From now on, for as long as the process lives. */
export function boundHeapGrowth(): void {
  growBy(mostPercent);
  // Code that V8 keeps at the end is only good for a process with the same flags, and this one loaded its own without.
  process.on("exit", () => growBy(0));
}

/** 0: as V8 decides. */
function growBy(percent: number): void {
  setFlagsFromString(`--heap-growing-percent=${percent}`);
}
