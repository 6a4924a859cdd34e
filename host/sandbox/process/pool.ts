// A few warm sandbox processes. One that saw anything but an ordinary answer is replaced.

import { dirname } from "node:path";
import { execPath } from "node:process";
import { fileURLToPath } from "node:url";
import type { Result } from "../../../src/fault/result.ts";
import type { AdmittedComponent } from "../admission/admit.ts";
import { hostFault, resultOf } from "../answer.ts";
import type { CapabilityImports, GuestCall, GuestRunner, GuestSuccess, Verb } from "../runner.ts";
import { defaultLimits } from "../limits.ts";
import { loadInto, runInProcess } from "./guest-session.ts";
import { SandboxProcess, type SandboxProcessInit } from "./sandbox-process.ts";

export interface ProcessPoolInit extends Partial<SandboxProcessInit> {
  /** Processes kept ready while nothing is called. */
  readonly warm?: number;
  /** Processes at most; further calls wait. */
  readonly most?: number;
  /** A process for every call: nothing of one guest is ever in the memory of another's. */
  readonly processPerCall?: boolean;
}

/** What a pool has and had. */
export interface PoolCounts {
  readonly idle: number;
  readonly busy: number;
  readonly starting: number;
  /** Calls that wait for a process. */
  readonly waiting: number;
  /** Processes that were started, and that ended or were ended, since the pool is there. */
  readonly started: number;
  readonly ended: number;
}

/** Components that every process is given ahead of calls; the compiled ones that a process keeps are twice as many. */
const mostPrepared = 16;

interface Waiting {
  readonly take: (process: SandboxProcess | undefined) => void;
}

/** Runs guests in sandbox processes. */
export class ProcessPool implements GuestRunner {
  private readonly init: SandboxProcessInit;
  private readonly warm: number;
  private readonly most: number;
  private readonly processPerCall: boolean;
  private readonly all = new Set<SandboxProcess>();
  private readonly idle: SandboxProcess[] = [];
  private readonly queue: Waiting[] = [];
  /** Components that a process has before it is called, by key. */
  private readonly prepared = new Map<string, AdmittedComponent>();
  private starting = 0;
  private started = 0;
  private gone = 0;
  private busy = 0;
  private closed = false;

  constructor(init: ProcessPoolInit = {}) {
    const entry = init.entry ?? fileURLToPath(new URL("./main.ts", import.meta.url));
    this.init = {
      node: init.node ?? execPath,
      entry,
      readable:
        init.readable ?? (init.entry === undefined ? fileURLToPath(new URL("../../../", import.meta.url)) : dirname(entry)),
      memoryPages: init.memoryPages ?? defaultLimits.memoryPages,
      tableEntries: init.tableEntries ?? defaultLimits.tableEntries,
    };
    this.most = Math.max(1, init.most ?? 4);
    this.warm = Math.min(init.warm ?? 2, this.most);
    this.processPerCall = init.processPerCall ?? false;
    this.replenish();
  }

  /** As whom the processes run: 65534 where the brain is root and may give that up. */
  get uids(): readonly number[] {
    return [...this.all].map(({ uid }) => uid);
  }

  get counts(): PoolCounts {
    const { busy, starting, started } = this;
    return { idle: this.idle.length, busy, starting, waiting: this.queue.length, started, ended: this.gone };
  }

  /** Tries again to have warm ones where none could be started. */
  warmUp(): void {
    this.replenish();
  }

  async call<V extends Verb>(call: GuestCall<V>, imports: CapabilityImports): Promise<Result<GuestSuccess<V>>> {
    const { component, verb, deadlineMs } = call;
    const started = performance.now();
    const process = await this.acquire(deadlineMs);
    if (process === undefined) {
      return hostFault(
        component,
        verb,
        "SANDBOX_UNAVAILABLE",
        "found no sandbox process: none could be started, or all were busy to the deadline",
      );
    }
    const left = Math.max(1, deadlineMs - (performance.now() - started));
    const { outcome, healthy } = await runInProcess(process, { ...call, deadlineMs: left }, imports);
    this.release(process, healthy);
    return resultOf(component, verb, outcome);
  }

  /** Has it compiled in each process while nothing is called there; the one that was prepared first makes way. */
  prepare(component: AdmittedComponent): void {
    if (this.prepared.has(component.key)) return;
    const [oldest] = this.prepared.keys();
    if (this.prepared.size >= mostPrepared && oldest !== undefined) this.prepared.delete(oldest);
    this.prepared.set(component.key, component);
    for (const process of this.idle) loadInto(process, component);
  }

  async close(): Promise<void> {
    this.closed = true;
    for (const { take } of this.queue.splice(0)) take(undefined);
    await Promise.all(
      [...this.all].map((process) => {
        process.kill();
        return process.ended;
      }),
    );
  }

  private async acquire(deadlineMs: number): Promise<SandboxProcess | undefined> {
    for (let idle = this.idle.pop(); idle !== undefined; idle = this.idle.pop()) {
      if (!idle.alive) continue;
      this.busy += 1;
      return idle;
    }
    return new Promise((resolve) => {
      const waiting: Waiting = {
        take: (process) => {
          clearTimeout(timer);
          resolve(process);
        },
      };
      const timer = setTimeout(() => {
        const place = this.queue.indexOf(waiting);
        if (place >= 0) this.queue.splice(place, 1);
        resolve(undefined);
      }, deadlineMs);
      this.queue.push(waiting);
      if (this.closed) waiting.take(undefined);
      else this.replenish();
    });
  }

  private release(process: SandboxProcess, healthy: boolean): void {
    this.busy -= 1;
    if (!healthy || this.processPerCall || this.closed) process.kill();
    else this.offer(process);
    this.replenish();
  }

  private offer(process: SandboxProcess): void {
    const next = this.queue.shift();
    if (next === undefined) {
      this.idle.push(process);
      for (const component of this.prepared.values()) loadInto(process, component);
      return;
    }
    this.busy += 1;
    next.take(process);
  }

  // Starts what is missing: a process for each call that waits, and the warm ones.
  private replenish(): void {
    for (;;) {
      const alive = this.idle.length + this.busy + this.starting;
      const wanted = this.queue.length > this.starting || alive < this.warm;
      if (this.closed || !wanted || alive >= this.most) return;
      void this.start();
    }
  }

  private async start(): Promise<void> {
    const process = new SandboxProcess(this.init);
    this.all.add(process);
    this.starting += 1;
    this.started += 1;
    const good = await process.ready();
    this.starting -= 1;
    void process.ended.then(() => {
      this.all.delete(process);
      this.gone += 1;
      const place = this.idle.indexOf(process);
      if (place < 0) return;
      // It ended while nothing ran in it: one of those may be too much to compile, and must not end the next one, too.
      this.prepared.clear();
      this.idle.splice(place, 1);
      this.replenish();
    });
    if (this.closed) process.kill();
    else if (good) this.offer(process);
    // Not tried again before the next call: what keeps one from starting keeps others.
    else this.queue.shift()?.take(undefined);
  }
}
