// A pool of warm sandbox processes. A process whose call ended without an answer is replaced. A call whose imports may wait shares its
// process with other calls of the same component and is suspended during its imports, so that it does not block another pod's call.

import { dirname } from "node:path";
import { execPath } from "node:process";
import { fileURLToPath } from "node:url";
import type { Result } from "../../../src/fault/result.ts";
import type { AdmittedComponent } from "../admission/admit.ts";
import { hostFault, resultOf } from "../call-result.ts";
import type { CallOutcome } from "../linker/call.ts";
import { mayWait } from "../linker/may-wait.ts";
import type { CapabilityImports, GuestCall, GuestRunner, GuestSuccess, Verb } from "../runner.ts";
import { defaultLimits } from "../limits.ts";
import { GuestSessions, loadInto } from "./guest-sessions.ts";
import type { Control } from "../launcher/controls.ts";
import { defaultJail } from "../launcher/jail.ts";
import { SandboxProcess, type SandboxProcessInit } from "./sandbox-process.ts";
import { WaitingCalls } from "./waiting-calls.ts";

/** Settings of a pool. */
export interface ProcessPoolInit extends Partial<SandboxProcessInit> {
  /** Number of processes that are kept ready without calls. */
  readonly warm?: number;
  /**
   * Maximum number of processes; further calls wait. If suspended calls hold all processes, one further process is allowed, because these
   * calls may wait for another call.
   */
  readonly maxProcesses?: number;
  /** Milliseconds for which such a further process is kept without calls, for the next burst of calls. */
  readonly keepMs?: number;
  /** Whether every call gets its own new process. */
  readonly processPerCall?: boolean;
}

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

/** Maximum of components that every process compiles before calls. A process keeps twice as many compiled components. */
const maxPrepared = 16;
/** Maximum of calls of one component that share a process. Each suspended call has a stack of at most a megabyte, and its memory. */
const maxSharedCalls = 64;

/** A process of the pool. */
interface PoolProcess {
  readonly sessions: GuestSessions;
  /** Key of the component whose calls share the process; undefined: the process is idle or has one synchronous call. */
  sharedKey: string | undefined;
}

/** Runs guests in sandbox processes. */
export class ProcessPool implements GuestRunner {
  private readonly init: SandboxProcessInit;
  private readonly warm: number;
  private readonly maxProcesses: number;
  private readonly keepMs: number;
  private readonly processPerCall: boolean;
  private readonly all = new Set<SandboxProcess>();
  private readonly idle: PoolProcess[] = [];
  private readonly busy = new Set<PoolProcess>();
  private readonly queue: WaitingCalls<PoolProcess>;
  /** Components that every process compiles before calls, by key. */
  private readonly prepared = new Map<string, AdmittedComponent>();
  private starting = 0;
  private started = 0;
  private endedCount = 0;
  private closed = false;
  /** The controls of the jail of the last process that started; undefined: none has started yet. */
  controls: ReadonlySet<Control> | undefined;
  /** Why the last start failed; undefined: it succeeded. Continues "a sandbox process …". */
  startProblem: string | undefined;

  constructor(init: ProcessPoolInit = {}) {
    const entry = init.entry ?? fileURLToPath(new URL("./main.ts", import.meta.url));
    this.init = {
      node: init.node ?? execPath,
      entry,
      readable:
        init.readable ?? (init.entry === undefined ? fileURLToPath(new URL("../../../", import.meta.url)) : dirname(entry)),
      memoryPages: init.memoryPages ?? defaultLimits.memoryPages,
      tableEntries: init.tableEntries ?? defaultLimits.tableEntries,
      jail: "jail" in init ? init.jail : defaultJail(),
    };
    this.maxProcesses = Math.max(1, init.maxProcesses ?? 4);
    this.warm = Math.min(init.warm ?? 2, this.maxProcesses);
    this.keepMs = init.keepMs ?? 10_000;
    this.processPerCall = init.processPerCall ?? false;
    this.queue = new WaitingCalls(this.maxCallsPerProcess);
    this.replenish();
  }

  /** The uids of the processes: of the range for sandbox processes if the engine can change users. */
  get uids(): readonly number[] {
    return [...this.all].map(({ uid }) => uid);
  }

  /** The present numbers. */
  get counts(): PoolCounts {
    const { starting, started } = this;
    return { idle: this.idle.length, busy: this.busy.size, starting, waiting: this.queue.size, started, ended: this.endedCount };
  }

  /** Tries again to start warm processes after a failed start. */
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
      `got no sandbox process: ${this.startProblem === undefined ? "all were busy until the deadline" : `a process ${this.startProblem}`}`,
    );
  }

  /** Lets each idle process compile a component before its first call. Above the maximum the oldest component is dropped. */
  prepare(component: AdmittedComponent): void {
    if (this.prepared.has(component.key)) return;
    const [oldest] = this.prepared.keys();
    if (this.prepared.size >= maxPrepared && oldest !== undefined) this.prepared.delete(oldest);
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

  /** The outcome of a call; undefined if the call got no process. */
  private outcome(call: GuestCall<Verb>, imports: CapabilityImports): Promise<CallOutcome | undefined> {
    const { component, deadlineMs } = call;
    const sharedKey = mayWait(component.capabilities) ? component.key : undefined;
    const process = this.find(sharedKey);
    if (process !== undefined) return process.sessions.run(call, imports);
    const started = performance.now();
    const { promise, resolve } = Promise.withResolvers<CallOutcome | undefined>();
    // The call starts immediately in its process, so that the process counts it.
    this.queue.add(sharedKey, deadlineMs, (freeProcess) => {
      const left = Math.max(1, deadlineMs - (performance.now() - started));
      resolve(freeProcess?.sessions.run({ ...call, deadlineMs: left }, imports));
    });
    if (this.closed) this.queue.refuseAll();
    else this.replenish();
    return promise;
  }

  private find(sharedKey: string | undefined): PoolProcess | undefined {
    if (sharedKey !== undefined) {
      for (const process of this.busy) if (process.sharedKey === sharedKey && this.canTakeCall(process)) return process;
    }
    for (let process = this.idle.pop(); process !== undefined; process = this.idle.pop()) {
      if (!process.sessions.process.isAlive) continue;
      process.sharedKey = sharedKey;
      this.busy.add(process);
      return process;
    }
    return undefined;
  }

  private canTakeCall({ sessions }: PoolProcess): boolean {
    return sessions.calls < this.maxCallsPerProcess && !sessions.mustBeReplaced && sessions.process.isAlive;
  }

  private get maxCallsPerProcess(): number {
    return this.processPerCall ? 1 : maxSharedCalls;
  }

  private callEnded(process: PoolProcess): void {
    const { sessions } = process;
    if (sessions.calls > 0) {
      this.addWaitingCalls(process);
      return;
    }
    if (!this.busy.delete(process)) return;
    process.sharedKey = undefined;
    if (sessions.mustBeReplaced || this.processPerCall || this.closed) sessions.process.kill("was replaced");
    else if (sessions.process.isAlive) this.offer(process);
    this.replenish();
  }

  /** Gives an idle process to the first waiting call, or keeps it idle. */
  private offer(process: PoolProcess): void {
    const { first } = this.queue;
    if (first === undefined) {
      this.idle.push(process);
      if (this.alive > this.maxProcesses) setTimeout(() => this.endSurplus(), this.keepMs).unref();
      for (const component of this.prepared.values()) loadInto(process.sessions.process, component);
      return;
    }
    process.sharedKey = first.sharedKey;
    this.busy.add(process);
    this.queue.next()?.(process);
    this.addWaitingCalls(process);
  }

  private endSurplus(): void {
    if (this.alive > this.maxProcesses) this.idle.shift()?.sessions.process.kill("was not needed");
  }

  /** Adds waiting calls that may share the process with its present calls. */
  private addWaitingCalls(process: PoolProcess): void {
    const { sharedKey } = process;
    if (sharedKey === undefined) return;
    while (this.canTakeCall(process)) {
      const receive = this.queue.next(sharedKey);
      if (receive === undefined) return;
      receive(process);
    }
  }

  private get alive(): number {
    return this.idle.length + this.busy.size + this.starting;
  }

  /** A suspended call may wait for another call in this pool. Therefore one process more than suspended calls hold is always allowed. */
  private get limit(): number {
    const held = [...this.busy].filter(({ sharedKey }) => sharedKey !== undefined).length;
    return Math.max(this.maxProcesses, held + 1);
  }

  // Starts the missing processes: those that the waiting calls need, and the warm ones.
  private replenish(): void {
    for (;;) {
      const isNeeded = this.queue.neededProcesses > this.starting || this.alive < this.warm;
      if (this.closed || !isNeeded || this.alive >= this.limit) return;
      void this.start();
    }
  }

  private async start(): Promise<void> {
    const process = new SandboxProcess(this.init);
    this.all.add(process);
    this.starting += 1;
    this.started += 1;
    const isReady = await process.ready();
    this.starting -= 1;
    if (isReady) this.controls = process.controls;
    this.startProblem = isReady ? undefined : (await process.ended).reason;
    void process.ended.then(() => {
      this.all.delete(process);
      this.endedCount += 1;
      const at = this.idle.findIndex(({ sessions }) => sessions.process === process);
      if (at < 0) return;
      // An idle process ended. The compilation of a prepared component may be the reason, and must not end the next process, too.
      this.prepared.clear();
      this.idle.splice(at, 1);
      this.replenish();
    });
    if (this.closed) process.kill("was ended with the pool");
    // The next start is tried at the next call, because other processes would fail for the same reason.
    else if (!isReady) this.queue.refuseFirst();
    else {
      const poolProcess: PoolProcess = {
        sessions: new GuestSessions(process, () => this.callEnded(poolProcess)),
        sharedKey: undefined,
      };
      this.offer(poolProcess);
    }
  }
}
