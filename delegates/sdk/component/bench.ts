// The times of many calls of one component.

import type { Vector } from "../testing/vector.ts";
import type { PreparedComponent } from "./run.ts";

/** The figures of a benchmark. Times are microseconds of a whole call, with its fresh instance. */
export interface Bench {
  readonly calls: number;
  readonly p50Us: number;
  readonly p90Us: number;
  readonly p99Us: number;
  readonly maxUs: number;
  /** The greatest size of linear memory. */
  readonly memoryBytes: number;
}

/** Calls the component `warmUp` times, then `calls` times. Throws an Error if a call gives no usage, because a node would refuse it. */
export function measure(
  component: PreparedComponent,
  vector: Vector,
  { warmUp, calls }: { warmUp: number; calls: number },
): Bench {
  const times: number[] = [];
  let memoryBytes = 0;
  for (let call = 0; call < warmUp + calls; call += 1) {
    const { usage, stdout } = component.call(vector);
    if (usage === undefined) throw new Error(`the component is not called: ${stdout}`);
    memoryBytes = Math.max(memoryBytes, usage.memoryBytes);
    if (call >= warmUp) times.push(usage.timeMs);
  }
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): number => Math.round((sorted[Math.ceil(share * sorted.length) - 1] ?? 0) * 1000);
  return { calls, p50Us: at(0.5), p90Us: at(0.9), p99Us: at(0.99), maxUs: at(1), memoryBytes };
}
