// The idle processes of a pool: those without an owner, and those that are kept for their owner's next call. A guest that broke out of V8 keeps the process and may act
// in every later call there, so a process has one owner until it ends.
//
// A process blocks in a read between two frames, so V8's own idle work never runs there: after its start, and after a burst of calls, it would keep a third of its private
// memory that it does not need (measured with daemon-rss-idle and daemon-rss-family). `RestingProcesses` lets idle processes give that memory back.

import { privateBytes } from "./process-memory.ts";

/** The component whose guests run in a process, and the source of their calls. */
export interface ProcessOwner {
  /** Key of the admitted component. */
  readonly component: string;
  /** Names the grants that the calls have; undefined for an admission, and for a process that has only examined the component. */
  readonly source: string | undefined;
}

/**
 * Whether a process with this owner may take what `wanted` asks for. Undefined: the process has no owner yet. An admission never gets a process
 * that has run guests, because its result holds for all sources.
 */
export function mayServe(owner: ProcessOwner | undefined, wanted: ProcessOwner): boolean {
  if (owner === undefined) return true;
  if (owner.component !== wanted.component) return false;
  return owner.source === undefined || owner.source === wanted.source;
}

/** The owner of a process after it took `wanted`. */
export function ownerAfter(owner: ProcessOwner | undefined, wanted: ProcessOwner): ProcessOwner {
  return { component: wanted.component, source: owner?.source ?? wanted.source };
}

/** A process as far as this module needs it. */
export interface OwnedProcess {
  readonly owner: ProcessOwner | undefined;
}

/** The idle processes; `P` is a process of the pool. */
export class IdleProcesses<P extends OwnedProcess> {
  readonly #unowned: P[] = [];
  /** Least recently used first. */
  readonly #kept: P[] = [];
  readonly #maxKept: number;

  /** `maxKept`: maximum number of processes that are kept for their owners. */
  constructor(maxKept: number) {
    this.#maxKept = maxKept;
  }

  get size(): number {
    return this.#unowned.length + this.#kept.length;
  }

  /** Number of the processes without an owner. */
  get unownedCount(): number {
    return this.#unowned.length;
  }

  /** All idle processes. */
  get all(): readonly P[] {
    return [...this.#unowned, ...this.#kept];
  }

  /** The processes that are kept for their owners, least recently used first. */
  get keptForOwners(): readonly P[] {
    return this.#kept;
  }

  /** Adds a process. Answers the process that must end, because more than the maximum would be kept. */
  add(process: P): P | undefined {
    if (process.owner === undefined) {
      this.#unowned.push(process);
      return undefined;
    }
    this.#kept.push(process);
    return this.#kept.length > this.#maxKept ? this.#kept.shift() : undefined;
  }

  /** Removes and answers a process for `wanted`: the owner's most recently used one, else one without an owner. */
  take(wanted: ProcessOwner): P | undefined {
    const at = this.#kept.findLastIndex(({ owner }) => mayServe(owner, wanted));
    return at < 0 ? this.#unowned.pop() : this.#kept.splice(at, 1)[0];
  }

  /** Removes and answers the oldest process without an owner. */
  takeUnowned(): P | undefined {
    return this.#unowned.shift();
  }

  /** Whether an owner has more than one idle process. */
  get hasDuplicates(): boolean {
    return this.#duplicate >= 0;
  }

  /** Removes and answers the least recently used process whose owner has another idle one. */
  takeDuplicate(): P | undefined {
    return this.#duplicate < 0 ? undefined : this.#kept.splice(this.#duplicate, 1)[0];
  }

  get #duplicate(): number {
    return this.#kept.findIndex(({ owner }, index) =>
      this.#kept.some((other, otherIndex) => otherIndex > index && isSame(other.owner, owner)),
    );
  }

  /** Removes a process; answers whether it was here. */
  remove(process: P): boolean {
    for (const list of [this.#unowned, this.#kept]) {
      const at = list.indexOf(process);
      if (at >= 0) return list.splice(at, 1).length === 1;
    }
    return false;
  }
}

function isSame(one: ProcessOwner | undefined, other: ProcessOwner | undefined): boolean {
  return one?.component === other?.component && one?.source === other?.source;
}

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
