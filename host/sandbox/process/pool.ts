// A few warm sandbox processes. One that saw anything but an ordinary answer is replaced. A call whose imports may wait shares its
// process with others of the same component, suspended while it waits, so that it keeps no process from another pod's call.

import { dirname } from "node:path";
import { execPath } from "node:process";
import { fileURLToPath } from "node:url";
import type { Result } from "../../../src/fault/result.ts";
import type { AdmittedComponent } from "../admission/admit.ts";
import { hostFault, resultOf } from "../answer.ts";
import type { CallOutcome } from "../linker/call.ts";
import { mayWait } from "../linker/may-wait.ts";
import type { CapabilityImports, GuestCall, GuestRunner, GuestSuccess, Verb } from "../runner.ts";
import { defaultLimits } from "../limits.ts";
import { GuestSessions, loadInto } from "./guest-sessions.ts";
import { SandboxProcess, type SandboxProcessInit } from "./sandbox-process.ts";
import { WaitingCalls } from "./waiting-calls.ts";

export interface ProcessPoolInit extends Partial<SandboxProcessInit> {
  /** Processes kept ready while nothing is called. */
  readonly warm?: number;
  /**
   * Processes at most; further calls wait. Where calls of components whose imports may wait hold all of them, one more may be there:
   * what they wait for may be a call.
   */
  readonly most?: number;
  /** Milliseconds that such a further process is kept when nothing is called in it; the next burst of calls may want it. */
  readonly keepMs?: number;
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
/** Calls of one component that share a process. Each that is suspended has a stack of a megabyte at most, and its memory. */
const mostShared = 64;

/** A process, and for whose calls it is: of a component whose imports may wait, by its key, of several at once. */
interface Place {
  readonly sessions: GuestSessions;
  shared: string | undefined;
}

/** Runs guests in sandbox processes. */
export class ProcessPool implements GuestRunner {
  private readonly init: SandboxProcessInit;
  private readonly warm: number;
  private readonly most: number;
  private readonly keepMs: number;
  private readonly processPerCall: boolean;
  private readonly all = new Set<SandboxProcess>();
  private readonly idle: Place[] = [];
  private readonly busy = new Set<Place>();
  private readonly queue: WaitingCalls<Place>;
  /** Components that a process has before it is called, by key. */
  private readonly prepared = new Map<string, AdmittedComponent>();
  private starting = 0;
  private started = 0;
  private gone = 0;
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
    this.keepMs = init.keepMs ?? 10_000;
    this.processPerCall = init.processPerCall ?? false;
    this.queue = new WaitingCalls(this.mostCalls);
    this.replenish();
  }

  /** As whom the processes run: 65534 where the brain is root and may give that up. */
  get uids(): readonly number[] {
    return [...this.all].map(({ uid }) => uid);
  }

  get counts(): PoolCounts {
    const { starting, started } = this;
    return { idle: this.idle.length, busy: this.busy.size, starting, waiting: this.queue.size, started, ended: this.gone };
  }

  /** Tries again to have warm ones where none could be started. */
  warmUp(): void {
    this.replenish();
  }

  async call<V extends Verb>(call: GuestCall<V>, imports: CapabilityImports): Promise<Result<GuestSuccess<V>>> {
    const { component, verb } = call;
    const outcome = await this.outcome(call, imports);
    if (outcome !== undefined) return resultOf(component, verb, outcome);
    return hostFault(
      component,
      verb,
      "SANDBOX_UNAVAILABLE",
      "found no sandbox process: none could be started, or all were busy to the deadline",
    );
  }

  /** Has it compiled in each process while nothing is called there; the one that was prepared first makes way. */
  prepare(component: AdmittedComponent): void {
    if (this.prepared.has(component.key)) return;
    const [oldest] = this.prepared.keys();
    if (this.prepared.size >= mostPrepared && oldest !== undefined) this.prepared.delete(oldest);
    this.prepared.set(component.key, component);
    for (const { sessions } of this.idle) loadInto(sessions.process, component);
  }

  async close(): Promise<void> {
    this.closed = true;
    this.queue.refuseAll();
    await Promise.all(
      [...this.all].map((process) => {
        process.kill("was ended with the pool");
        return process.ended;
      }),
    );
  }

  /** Undefined where no process is to be had. */
  private outcome(call: GuestCall<Verb>, imports: CapabilityImports): Promise<CallOutcome | undefined> {
    const { component, deadlineMs } = call;
    const shared = mayWait(component.capabilities) ? component.key : undefined;
    const place = this.find(shared);
    if (place !== undefined) return place.sessions.run(call, imports);
    const started = performance.now();
    const { promise, resolve } = Promise.withResolvers<CallOutcome | undefined>();
    // It runs at once in the place that it is given, which then knows how many calls it has.
    this.queue.add(shared, deadlineMs, (given) => {
      const left = Math.max(1, deadlineMs - (performance.now() - started));
      resolve(given?.sessions.run({ ...call, deadlineMs: left }, imports));
    });
    if (this.closed) this.queue.refuseAll();
    else this.replenish();
    return promise;
  }

  private find(shared: string | undefined): Place | undefined {
    if (shared !== undefined) {
      for (const place of this.busy) if (place.shared === shared && this.takesMore(place)) return place;
    }
    for (let place = this.idle.pop(); place !== undefined; place = this.idle.pop()) {
      if (!place.sessions.process.alive) continue;
      place.shared = shared;
      this.busy.add(place);
      return place;
    }
    return undefined;
  }

  private takesMore({ sessions }: Place): boolean {
    return sessions.calls < this.mostCalls && !sessions.spoiled && sessions.process.alive;
  }

  private get mostCalls(): number {
    return this.processPerCall ? 1 : mostShared;
  }

  private callEnded(place: Place): void {
    const { sessions } = place;
    if (sessions.calls > 0) {
      this.join(place);
      return;
    }
    if (!this.busy.delete(place)) return;
    place.shared = undefined;
    if (sessions.spoiled || this.processPerCall || this.closed) sessions.process.kill("was replaced");
    else if (sessions.process.alive) this.offer(place);
    this.replenish();
  }

  /** Gives a process without calls to who waits for one. */
  private offer(place: Place): void {
    const { first } = this.queue;
    if (first === undefined) {
      this.idle.push(place);
      if (this.alive > this.most) setTimeout(() => this.giveBack(), this.keepMs).unref();
      for (const component of this.prepared.values()) loadInto(place.sessions.process, component);
      return;
    }
    place.shared = first.shared;
    this.busy.add(place);
    this.queue.next()?.(place);
    this.join(place);
  }

  private giveBack(): void {
    if (this.alive > this.most) this.idle.shift()?.sessions.process.kill("was not needed any more");
  }

  /** Gives a process to those that wait and may share it with the calls that it has. */
  private join(place: Place): void {
    const { shared } = place;
    if (shared === undefined) return;
    while (this.takesMore(place)) {
      const give = this.queue.next(shared);
      if (give === undefined) return;
      give(place);
    }
  }

  private get alive(): number {
    return this.idle.length + this.busy.size + this.starting;
  }

  /** What calls that are suspended wait for may be a call in this pool: there is always a process that none of them holds. */
  private get limit(): number {
    const held = [...this.busy].filter(({ shared }) => shared !== undefined).length;
    return Math.max(this.most, held + 1);
  }

  // Starts what is missing: a process for each call that waits, or for those that share one, and the warm ones.
  private replenish(): void {
    for (;;) {
      const wanted = this.queue.needed > this.starting || this.alive < this.warm;
      if (this.closed || !wanted || this.alive >= this.limit) return;
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
      const at = this.idle.findIndex(({ sessions }) => sessions.process === process);
      if (at < 0) return;
      // It ended while nothing ran in it: one of those may be too much to compile, and must not end the next one, too.
      this.prepared.clear();
      this.idle.splice(at, 1);
      this.replenish();
    });
    if (this.closed) process.kill("was ended with the pool");
    // Not tried again before the next call: what keeps one from starting keeps others.
    else if (!good) this.queue.refuseFirst();
    else {
      const place: Place = { sessions: new GuestSessions(process, () => this.callEnded(place)), shared: undefined };
      this.offer(place);
    }
  }
}
