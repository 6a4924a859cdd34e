// Linear memories of ended calls. V8 ignores them when it decides whether to collect garbage: 400 calls that touched 12 MiB each took
// 5 GB before V8 freed any memory.

import { collectGarbage } from "../system/v8/collect-garbage.ts";

const maxUncollectedBytes = 64 * 1024 * 1024;

/** Counts the linear memory of ended calls, and requests a garbage collection above 64 MiB. One per process. */
export class InstanceMemory {
  #uncollectedBytes = 0;

  /** Adds the bytes of linear memory that an ended call leaves to the garbage collector. */
  add(bytes: number): void {
    this.#uncollectedBytes += bytes;
  }

  /** Collects garbage above 64 MiB. Takes some milliseconds, so the caller first sends the call's answer. */
  collectIfMuch(): void {
    if (this.#uncollectedBytes < maxUncollectedBytes) return;
    this.#uncollectedBytes = 0;
    collectGarbage("usual");
  }
}
