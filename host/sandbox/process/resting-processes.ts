// Lets idle sandbox processes give memory back. A process blocks in a read between two frames, so V8's own idle work never runs there: after its start, and after
// a burst of calls, it would keep a third of its private memory that it does not need (measured with daemon-rss-idle and daemon-rss-family).

import { privateBytes } from "./process-memory.ts";

/** A process as far as this module needs it. */
interface RestingProcess {
  readonly pid: number | undefined;
}

/** Milliseconds without a call. A collection also drops code that has not run for long, so a pod every few seconds must find it. */
const quietMs = 30_000;
/** Milliseconds in which an asked process has given its memory back, on a busy node too. */
const settledMs = 2_000;
/** Growth after which a process is asked again: a collection takes some 20 ms of CPU time. */
const growthBytes = 4 * 1024 * 1024;

/** The idle processes of one pool; `P` is a process of the pool. */
export class RestingProcesses<P extends RestingProcess> {
  readonly #idle: () => readonly P[];
  readonly #ask: (process: P) => void;
  readonly #measure: (pid: number) => number;
  /** The memory of asked processes after they gave back what they could; Infinity until it is measured. */
  readonly #rested = new WeakMap<P, number>();
  #timer: NodeJS.Timeout | undefined;

  /** `idle` answers the idle processes, `ask` lets one of them collect its garbage, `measure` answers the private resident bytes of a process. */
  constructor(idle: () => readonly P[], ask: (process: P) => void, measure: (pid: number) => number = privateBytes) {
    this.#idle = idle;
    this.#ask = ask;
    this.#measure = measure;
  }

  /** A process has started, or a call has begun. */
  changed(): void {
    this.#timer = this.#timer?.refresh() ?? setTimeout(() => this.#rest(), quietMs).unref();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #rest(): void {
    for (const process of this.#idle()) {
      const { pid } = process;
      const rested = this.#rested.get(process);
      if (pid === undefined || (rested !== undefined && this.#measure(pid) <= rested + growthBytes)) continue;
      this.#ask(process);
      this.#rested.set(process, Infinity);
      setTimeout(() => this.#rested.set(process, this.#measure(pid)), settledMs).unref();
    }
  }
}
