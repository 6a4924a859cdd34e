// Bounds how far V8's heap grows beyond its live objects before a collection. By default V8 decides by the speed of allocations and of the
// last collections, up to fourfold. An idle process keeps that memory: with 18 MiB of live objects, a burst of calls left 36 to 49 MiB (measured
// with daemon-rss-large).

import { setFlagsFromString } from "node:v8";

/** Percent beyond the live objects; V8 adds at least some 8 MiB. At this value collections are no more frequent than in V8's better runs. */
const maxGrowthPercent = 30;

/** Bounds the growth for the rest of the process. */
export function boundHeapGrowth(): void {
  growBy(maxGrowthPercent);
  // The code cache is written at the end and valid only for the same flags. The next process loads it without this flag.
  process.on("exit", () => growBy(0));
}

/** 0: V8 decides. */
function growBy(percent: number): void {
  setFlagsFromString(`--heap-growing-percent=${percent}`);
}
