// Settings and numbers of a pool of sandbox processes.

import type { ProcessMemory } from "./process-memory.ts";
import type { ProcessSettings } from "./sandbox-process.ts";

/** Settings of a pool. */
export interface PoolSettings extends Partial<ProcessSettings> {
  /** Number of processes without an owner that are started ahead while no call runs. */
  readonly warm?: number;
  /**
   * Whether another warm process starts, while no call runs, after a call took one; default true. A pool for one call cannot know that another component follows.
   * With `processPerCall` the next process starts in any case.
   */
  readonly replacesWarm?: boolean;
  /**
   * Maximum number of processes that have calls or are starting; further calls wait. If suspended calls hold all of them, one further process
   * is allowed, because these calls may wait for another call.
   */
  readonly maxProcesses?: number;
  /** Maximum number of idle processes that are kept for their owners' next calls. */
  readonly maxKept?: number;
  /** Milliseconds for which an idle process is kept that has no owner or is not its owner's only one. */
  readonly keepMs?: number;
  /** Whether every call gets its own new process. */
  readonly processPerCall?: boolean;
  /** Watches the memory of the processes; shared by the pools of one engine. */
  readonly memory?: ProcessMemory;
}

/** Default of `maxKept`: a node uses a handful of components, from some namespaces. An idle process takes some 11 MB of memory of its own. */
export const defaultMaxKept = 16;

/** Numbers of a pool's processes and waiting calls. */
export interface PoolCounts {
  readonly idle: number;
  readonly busy: number;
  readonly starting: number;
  /** Calls that wait for a process. */
  readonly waiting: number;
  /** Processes that were started and that ended since the pool was made. */
  readonly started: number;
  readonly ended: number;
}
