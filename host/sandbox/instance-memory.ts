// Linear memories of ended calls. V8 doesn't count them when it decides whether to collect garbage: without this, 400
// calls that touched 12 MiB each took 5 GB before any of it was given back.

import { runInNewContext } from "node:vm";

const mostBytes = 64 * 1024 * 1024;

/** Counts what ended calls leave behind, and collects when that is much. One per process. */
export class InstanceMemory {
  private left = 0;
  private collect: (() => void) | undefined;

  /** A call has ended with that many bytes of linear memory. */
  ended(bytes: number): void {
    this.left += bytes;
  }

  /** Collects when more than 64 MiB are left behind; takes some milliseconds, so it belongs behind an answer. */
  tidy(): void {
    if (this.left < mostBytes) return;
    this.left = 0;
    this.collect ??= collector();
    this.collect();
  }
}

// V8 gives `gc` to contexts that are made after the flag was set. node:v8 is loaded only then: it takes 2 ms of every call that
// runs a delegate, and hardly any call collects.
function collector(): () => void {
  process.getBuiltinModule("node:v8").setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("gc");
  return typeof collect === "function" ? () => void Reflect.apply(collect, undefined, []) : () => undefined;
}
