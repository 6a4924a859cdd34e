// A pool of sandbox processes. A process gets its owner, a component and the source of its calls, with its first admission or call, and belongs
// to it until it ends. A process whose call ended without an answer is replaced. A call whose imports may wait shares its process with other
// calls of the same owner and is suspended during its imports, so that it does not block another pod's call.

import type { Result } from "../../../src/fault/result.ts";
import { hostFault, resultOf } from "../call-result.ts";
import { containerMemoryBytes } from "../launcher/container-memory.ts";
import type { Control } from "../launcher/controls.ts";
import type { CallOutcome } from "../linker/call.ts";
import { mayWait } from "../linker/may-wait.ts";
import type { CapabilityImports, GuestCall, GuestRunner, GuestSuccess, Verb } from "../runner.ts";
import { leastAdmissionDeadlineMs, type AdmissionOutcome, type AdmissionRequest } from "./admission-session.ts";
import { GuestSessions } from "./guest-sessions.ts";
import { IdleProcesses, mayServe, ownerAfter, type ProcessOwner, RestingProcesses } from "./idle-processes.ts";
import { memoryBounds } from "./memory-bounds.ts";
import { defaultMaxKept, type PoolCounts, type PoolSettings } from "./pool-settings.ts";
import { ProcessMemory, type WatchedProcess } from "./process-memory.ts";
import { ProcessStarter } from "./process-starter.ts";
import { lastLane, type Need, WaitingCalls } from "./waiting-calls.ts";

/** Maximum of calls of one owner that share a process. Each suspended call has a stack of at most a megabyte, and its memory. */
const maxSharedCalls = 64;
/** Milliseconds without a call before warm processes are started. */
const quietMs = 200;

/** A process of the pool. */
interface PoolProcess extends WatchedProcess {
  readonly sessions: GuestSessions;
  owner: ProcessOwner | undefined;
  /** Whether the process has calls that may be suspended, so that further calls of its owner may share it. */
  isShared: boolean;
}

/** Runs guests in sandbox processes. */
export class ProcessPool implements GuestRunner {
  readonly #starter: ProcessStarter;
  readonly #warm: number;
  readonly #replacesWarm: boolean;
  readonly #maxProcesses: number;
  readonly #keepMs: number;
  readonly #processPerCall: boolean;
  readonly #idle: IdleProcesses<PoolProcess>;
  readonly #busy = new Set<PoolProcess>();
  readonly #queue: WaitingCalls<PoolProcess>;
  readonly #memory: ProcessMemory;
  readonly #unwatch: () => void;
  readonly #resting: RestingProcesses<PoolProcess>;
  #warmTimer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(settings: PoolSettings = {}) {
    this.#memory = settings.memory ?? new ProcessMemory(memoryBounds(containerMemoryBytes()));
    this.#starter = new ProcessStarter(settings, this.#memory);
    this.#maxProcesses = Math.max(1, settings.maxProcesses ?? 4);
    this.#warm = Math.min(settings.warm ?? 2, this.#maxProcesses);
    this.#replacesWarm = settings.replacesWarm ?? true;
    this.#idle = new IdleProcesses(settings.maxKept ?? defaultMaxKept);
    this.#keepMs = settings.keepMs ?? 10_000;
    this.#processPerCall = settings.processPerCall ?? false;
    this.#queue = new WaitingCalls(this.#maxCallsPerProcess);
    this.#unwatch = this.#memory.watch<PoolProcess>({
      keptProcesses: () => this.#idle.keptForOwners,
      busyProcesses: () => [...this.#busy],
      end: (process, reason) => {
        this.#idle.remove(process);
        process.sessions.process.kill(reason);
      },
    });
    this.#resting = new RestingProcesses(
      () => (this.#processPerCall ? [] : this.#idle.all),
      ({ sessions }) => sessions.rest(),
    );
    this.#startWarm();
  }

  /** The uids of the processes: of the range for sandbox processes if the engine can change users. */
  get uids(): readonly number[] {
    return this.#starter.uids;
  }

  /** The controls of the jail of the last process that started; undefined: none has started yet. */
  get controls(): ReadonlySet<Control> | undefined {
    return this.#starter.controls;
  }

  /** The last start's failure; undefined: it succeeded. Continues "a sandbox process …". */
  get startProblem(): string | undefined {
    return this.#starter.startProblem;
  }

  /** The present numbers. */
  get counts(): PoolCounts {
    const { starting, started, ended } = this.#starter;
    return { idle: this.#idle.size, busy: this.#busy.size, starting, waiting: this.#queue.size, started, ended };
  }

  /** Tries again to start warm processes after a failed start. */
  warmUp(): void {
    this.#startWarm();
  }

  async call<V extends Verb>(call: GuestCall<V>, imports: CapabilityImports): Promise<Result<GuestSuccess<V>>> {
    const { component, verb, source = "", namespace = "", isLast = false, deadlineMs } = call;
    const need: Need = {
      owner: { component: component.key, source },
      shares: mayWait(component.plan.capabilities),
      lane: isLast ? lastLane : namespace,
    };
    const outcome = await this.#inProcess(need, deadlineMs, ({ sessions }, leftMs): Promise<CallOutcome> =>
      sessions.run(leftMs === deadlineMs ? call : { ...call, deadlineMs: leftMs }, imports),
    );
    if (outcome !== undefined) return resultOf(component, verb, outcome);
    return hostFault(
      component,
      verb,
      "SANDBOX_UNAVAILABLE",
      `got no sandbox process: ${this.startProblem === undefined ? "all were busy until the deadline" : `a process ${this.startProblem}`}`,
    );
  }

  /** Admits a component in a process, which then belongs to the component. Undefined: there is no process. */
  admit(request: AdmissionRequest): Promise<AdmissionOutcome | undefined> {
    const need: Need = { owner: { component: request.key, source: undefined }, shares: false, lane: "" };
    return this.#inProcess(need, leastAdmissionDeadlineMs, ({ sessions }) => sessions.admit(request));
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#queue.refuseAll();
    this.#unwatch();
    this.#resting.stop();
    await this.#starter.killAll("was ended with the pool");
  }

  /** Runs `use` with a process for the need, and the milliseconds that are left of `maxWaitMs`. Undefined: there is no process. */
  #inProcess<T>(
    need: Need,
    maxWaitMs: number,
    use: (process: PoolProcess, leftMs: number) => Promise<T>,
  ): Promise<T | undefined> {
    const found = this.#find(need);
    if (found !== undefined) return this.#queue.running(need, use(found, maxWaitMs));
    const started = performance.now();
    const { promise, resolve } = Promise.withResolvers<T | undefined>();
    // The call starts immediately in its process, so that the process counts it.
    this.#queue.add(need, maxWaitMs, (process) => {
      const leftMs = Math.max(1, maxWaitMs - (performance.now() - started));
      resolve(process === undefined ? undefined : this.#queue.running(need, use(process, leftMs)));
    });
    if (this.#closed) this.#queue.refuseAll();
    else this.#startMissing();
    return promise;
  }

  /** A process that takes the need now; undefined if there is none, or if the maximum of processes has calls. */
  #find(need: Need): PoolProcess | undefined {
    const { owner, shares } = need;
    if (shares) {
      for (const process of this.#busy)
        if (process.isShared && mayServe(process.owner, owner) && this.#canTakeCall(process)) return process;
    }
    // Starting processes do not count: a call must not wait for the start of one that is not for it.
    if (this.#busy.size >= this.#limit) return undefined;
    for (let process = this.#idle.take(owner); process !== undefined; process = this.#idle.take(owner)) {
      if (!process.sessions.process.isAlive) continue;
      process.owner = ownerAfter(process.owner, owner);
      process.isShared = shares;
      this.#busy.add(process);
      this.#memory.callsChanged();
      this.#resting.changed();
      return process;
    }
    return undefined;
  }

  #canTakeCall({ sessions }: PoolProcess): boolean {
    return sessions.calls < this.#maxCallsPerProcess && !sessions.mustBeReplaced && sessions.process.isAlive;
  }

  get #maxCallsPerProcess(): number {
    return this.#processPerCall ? 1 : maxSharedCalls;
  }

  #callEnded(process: PoolProcess): void {
    const { sessions } = process;
    if (sessions.calls === 0 && this.#busy.delete(process)) {
      // A process that has only examined its component has no source yet, and takes its first call.
      const isUsed = this.#processPerCall && process.owner?.source !== undefined;
      if (sessions.mustBeReplaced || isUsed || this.#closed) sessions.process.kill("was replaced");
      else if (sessions.process.isAlive) this.#keep(process);
    }
    this.#dispatch();
  }

  #keep(process: PoolProcess): void {
    process.isShared = false;
    this.#idle.add(process)?.sessions.process.kill("was not needed");
    if (this.#idle.unownedCount > this.#warm || this.#idle.hasDuplicates)
      setTimeout(() => this.#endSurplus(), this.#keepMs).unref();
  }

  #endSurplus(): void {
    const surplus = this.#idle.unownedCount > this.#warm ? this.#idle.takeUnowned() : this.#idle.takeDuplicate();
    surplus?.sessions.process.kill("was not needed");
  }

  /** Gives processes to waiting calls, and starts the missing ones. */
  #dispatch(): void {
    if (this.#queue.size > 0) this.#queue.offer((need) => this.#find(need));
    this.#startMissing();
  }

  /** A suspended call may wait for another call in this pool. Therefore one process more than suspended calls hold is always allowed. */
  get #limit(): number {
    const held = [...this.#busy].filter(({ isShared }) => isShared).length;
    return Math.max(this.#maxProcesses, held + 1);
  }

  /** Starts the processes that the waiting calls need, and the warm ones if no call has run for a while. */
  #startMissing(): void {
    while (this.#queue.neededProcesses > this.#starter.starting && this.#mayStart) void this.#start();
    if (!this.#lacksWarm) return;
    // With a process for each call, every call takes a warm one. Otherwise only a new component does, and a start would take the CPU of calls.
    if (this.#processPerCall) this.#startWarm();
    else if (this.#replacesWarm && this.#warmTimer === undefined)
      this.#warmTimer = setTimeout(() => this.#warmTimerEnded(), quietMs).unref();
  }

  #warmTimerEnded(): void {
    this.#warmTimer = undefined;
    // The end of the running calls sets the timer again.
    if (this.#busy.size === 0) this.#startWarm();
  }

  #startWarm(): void {
    while (this.#lacksWarm && this.#mayStart) void this.#start();
  }

  get #lacksWarm(): boolean {
    return !this.#closed && this.#idle.unownedCount + this.#starter.starting < this.#warm;
  }

  get #mayStart(): boolean {
    return !this.#closed && this.#busy.size + this.#starter.starting < this.#limit;
  }

  async #start(): Promise<void> {
    const process = await this.#starter.start();
    if (this.#closed) process?.kill("was ended with the pool");
    // The next start is tried at the next call, because other processes would fail for the same reason.
    else if (process === undefined) this.#queue.refuseFirst();
    else {
      const poolProcess: PoolProcess = {
        sessions: new GuestSessions(process, () => this.#callEnded(poolProcess)),
        pid: process.pid,
        memoryPages: this.#starter.memoryPages,
        owner: undefined,
        isShared: false,
      };
      void process.ended.then(() => {
        if (this.#idle.remove(poolProcess)) this.#startMissing();
      });
      this.#keep(poolProcess);
      this.#resting.changed();
      this.#dispatch();
      if (poolProcess.owner === undefined && !this.#processPerCall) poolProcess.sessions.warmUp();
    }
  }
}
