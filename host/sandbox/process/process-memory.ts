// Watches the memory of an engine's sandbox processes. Machine code and V8's heap stay in a process that waits for its owner's next call, so many
// namespaces with their own processes could fill the engine's container. The processes are measured while calls run, and for a while afterwards.

import { readFileSync } from "node:fs";
import type { MemoryBounds } from "./memory-bounds.ts";

/** A process as far as this module needs it. */
export interface WatchedProcess {
  readonly pid: number | undefined;
  readonly memoryPages: number;
}

/** A pool of processes. */
export interface WatchedPool<P extends WatchedProcess = WatchedProcess> {
  /** Idle processes that are kept for their owners, least recently used first. */
  readonly keptProcesses: () => readonly P[];
  /** Processes with calls. */
  readonly busyProcesses: () => readonly P[];
  /** Ends a process; `reason` continues "its sandbox process, which …". */
  readonly end: (process: P, reason: string) => void;
}

/** Milliseconds between two measurements. A measurement reads one file of each process. */
const intervalMs = 250;
/** Measurements after the last call: V8 compiles in threads of its own, also after the call. */
const ticksAfterCall = 40;
const mebibyte = 1024 * 1024;

interface Measured {
  readonly bytes: number;
  readonly maxBytes: number;
  readonly end: (reason: string) => void;
}

/** The memory of the sandbox processes of one engine. */
export class ProcessMemory {
  readonly #bounds: MemoryBounds;
  readonly #measure: (pid: number) => number;
  readonly #pools = new Set<WatchedPool>();
  #ticksLeft = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `measure` answers the private resident bytes of a process. */
  constructor(bounds: MemoryBounds, measure: (pid: number) => number = privateBytes) {
    this.#bounds = bounds;
    this.#measure = measure;
  }

  /** The memory that a process with guests of so many pages may have. */
  ofProcess(memoryPages: number): ReturnType<MemoryBounds["ofProcess"]> {
    return this.#bounds.ofProcess(memoryPages);
  }

  /** Watches the processes of a pool; the answer ends that. */
  watch<P extends WatchedProcess>(pool: WatchedPool<P>): () => void {
    const watched = pool as unknown as WatchedPool;
    this.#pools.add(watched);
    return () => {
      this.#pools.delete(watched);
      if (this.#pools.size === 0) this.#stop();
    };
  }

  /** A call has begun or ended. */
  callsChanged(): void {
    this.#ticksLeft = ticksAfterCall;
    this.#timer ??= setInterval(() => this.#tick(), intervalMs).unref();
  }

  /** Measures all processes and ends those beyond the bounds: idle ones first, the largest first, of equal ones the least recently used. */
  check(): void {
    const kept = this.#measured((pool) => pool.keptProcesses());
    const busy = this.#measured((pool) => pool.busyProcesses());
    const idleLeft = endLargest(kept, this.#bounds.idleBytes, "was not needed, and idle processes had too much memory");
    const busyBytes = busy.reduce((sum, { bytes }) => sum + bytes, 0);
    const { allBytes } = this.#bounds;
    endLargest(idleLeft, allBytes - busyBytes, "was not needed, and the engine's container had too little memory");
    const tooLarge = busy.filter(({ bytes, maxBytes }) => bytes > maxBytes);
    for (const { bytes, maxBytes, end } of tooLarge)
      end(`was ended because it had ${mib(bytes)} MiB of memory; a process may have ${mib(maxBytes)}`);
    const allowed = busy.filter((each) => !tooLarge.includes(each));
    const together = mib(allowed.reduce((sum, { bytes }) => sum + bytes, 0));
    endLargest(allowed, allBytes, `was ended because all together had ${together} MiB of memory; they may have ${mib(allBytes)}`);
  }

  #measured(processesOf: (pool: WatchedPool) => readonly WatchedProcess[]): readonly Measured[] {
    return [...this.#pools].flatMap((pool) =>
      processesOf(pool).map((process) => ({
        bytes: process.pid === undefined ? 0 : this.#measure(process.pid),
        maxBytes: this.#bounds.ofProcess(process.memoryPages).resident,
        end: (reason: string) => pool.end(process, reason),
      })),
    );
  }

  #tick(): void {
    this.check();
    const isBusy = [...this.#pools].some((pool) => pool.busyProcesses().length > 0);
    this.#ticksLeft = isBusy ? ticksAfterCall : this.#ticksLeft - 1;
    if (this.#ticksLeft <= 0) this.#stop();
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

/** Ends the largest processes until the others have at most `maxBytes` together; answers the others. */
function endLargest(processes: readonly Measured[], maxBytes: number, reason: string): readonly Measured[] {
  let total = processes.reduce((sum, { bytes }) => sum + bytes, 0);
  if (total <= maxBytes) return processes;
  const ended = new Set<Measured>();
  // The sort is stable: of processes with equal memory, the least recently used one comes first.
  for (const process of processes.toSorted((one, other) => other.bytes - one.bytes)) {
    if (total <= maxBytes) break;
    process.end(reason);
    ended.add(process);
    total -= process.bytes;
  }
  return processes.filter((process) => !ended.has(process));
}

function mib(bytes: number): number {
  return Math.round(bytes / mebibyte);
}

/** Private resident bytes of a process: pages of files are shared with others. 0 if it has ended. */
export function privateBytes(pid: number): number {
  try {
    return Number(/^RssAnon:\s+(\d+) kB$/mu.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}
