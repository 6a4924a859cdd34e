// Calls that wait for a sandbox process. Namespaces take turns: the next call is that of the lane with the fewest running calls, among equals of the lane whose last call
// began first. So the long calls of one namespace delay the first call of another by one call at most, not by all that wait. The calls of one lane are served in the
// order of their arrival, and calls of one owner may share a process.

import type { ProcessOwner } from "./idle-processes.ts";

/** One namespace's calls. */
interface Lane {
  running: number;
  /** The number of the lane's last call, counted over all lanes. */
  lastBegun: number;
}

/** The lane of calls whose answers no pod needs. It comes after all others. A namespace has no such name. */
export const lastLane = "(last)";

/** Lanes without running calls are remembered up to this number of lanes, for their turn. */
const maxLanes = 1024;

/** The lanes of a pool, by name. */
export class FairTurns {
  /** In the order of their last calls, the earliest first. */
  readonly #lanes = new Map<string, Lane>();
  #begun = 0;

  /** A call of the lane begins. */
  began(name: string): void {
    const lane = this.#lanes.get(name) ?? { running: 0, lastBegun: 0 };
    lane.running += 1;
    lane.lastBegun = ++this.#begun;
    this.#lanes.delete(name);
    this.#lanes.set(name, lane);
    if (this.#lanes.size > maxLanes) this.#forgetOne();
  }

  /** A call of the lane has ended. */
  ended(name: string): void {
    const lane = this.#lanes.get(name);
    if (lane !== undefined) lane.running -= 1;
  }

  /** The name of the lane that comes first; undefined for no names. Among new lanes the first name comes first. */
  first(names: Iterable<string>): string | undefined {
    let first: string | undefined;
    for (const name of names) if (first === undefined || this.#comesBefore(name, first)) first = name;
    return first;
  }

  #comesBefore(one: string, other: string): boolean {
    if (one === lastLane || other === lastLane) return other === lastLane;
    const [a, b] = [this.#lanes.get(one), this.#lanes.get(other)];
    const [running, otherRunning] = [a?.running ?? 0, b?.running ?? 0];
    return running === otherRunning ? (a?.lastBegun ?? 0) < (b?.lastBegun ?? 0) : running < otherRunning;
  }

  #forgetOne(): void {
    for (const [name, { running }] of this.#lanes) {
      if (running > 0) continue;
      this.#lanes.delete(name);
      return;
    }
  }
}

/** Receives the process for a call, or undefined if there is none. */
type Receive<P> = (process: P | undefined) => void;

/** A process that a call needs. */
export interface Need {
  readonly owner: ProcessOwner;
  /** Whether the call may share the process with other calls of its owner. */
  readonly shares: boolean;
  /** The namespace of the call's pod, empty for none; or `lastLane`. */
  readonly lane: string;
}

interface Waiting<P> {
  readonly need: Need;
  readonly receive: Receive<P>;
  /** The call has left the queue. */
  hasLeft: boolean;
}

/** The queue of a pool; `P` is a process of the pool. */
export class WaitingCalls<P> {
  readonly #waiting: Waiting<P>[] = [];
  readonly #turns = new FairTurns();
  readonly #maxCallsPerProcess: number;

  /** `maxCallsPerProcess`: calls of one owner that may share a process. */
  constructor(maxCallsPerProcess: number) {
    this.#maxCallsPerProcess = maxCallsPerProcess;
  }

  get size(): number {
    return this.#waiting.length;
  }

  /** Adds a call. `receive` is called once: with a process, or with undefined after `maxWaitMs`. */
  add(need: Need, maxWaitMs: number, receive: Receive<P>): void {
    const waiting: Waiting<P> = {
      need,
      hasLeft: false,
      receive: (process) => {
        clearTimeout(timer);
        receive(process);
      },
    };
    const timer = setTimeout(() => this.#leave(waiting, undefined), maxWaitMs);
    this.#waiting.push(waiting);
  }

  /** The number of processes that all waiting calls need. */
  get neededProcesses(): number {
    const callsByOwner = new Map<string, number>();
    let unshared = 0;
    for (const { need } of this.#waiting) {
      if (!need.shares) unshared += 1;
      else callsByOwner.set(textOf(need.owner), (callsByOwner.get(textOf(need.owner)) ?? 0) + 1);
    }
    return [...callsByOwner.values()].reduce((sum, calls) => sum + Math.ceil(calls / this.#maxCallsPerProcess), unshared);
  }

  /** Counts a call that runs until `end` settles, for the turns of the namespaces. Answers `end`. */
  running<T>({ lane }: Need, end: Promise<T>): Promise<T> {
    this.#turns.began(lane);
    return end.finally(() => this.#turns.ended(lane));
  }

  /** Offers the calls to `serve`, in turn. A call for which `serve` answers a process is removed and receives the process. */
  offer(serve: (need: Need) => P | undefined): void {
    const lanes = Map.groupBy(this.#waiting, ({ need }) => need.lane);
    for (let lane = this.#turns.first(lanes.keys()); lane !== undefined; lane = this.#turns.first(lanes.keys())) {
      const each = lanes.get(lane)?.shift();
      if (each === undefined) lanes.delete(lane);
      // A call that receives its process may end at once, and the pool then offers the calls again.
      else if (!each.hasLeft) {
        const process = serve(each.need);
        if (process !== undefined) this.#leave(each, process);
      }
    }
  }

  /** Refuses the first call, and all calls that would have shared its process. */
  refuseFirst(): void {
    const [first] = this.#waiting;
    if (first === undefined) return;
    const isRefused = ({ need }: Waiting<P>): boolean =>
      need === first.need || (first.need.shares && need.shares && textOf(need.owner) === textOf(first.need.owner));
    for (const each of this.#waiting.filter(isRefused)) this.#leave(each, undefined);
  }

  /** Refuses all calls. */
  refuseAll(): void {
    for (const each of this.#waiting.slice()) this.#leave(each, undefined);
  }

  #leave(waiting: Waiting<P>, process: P | undefined): void {
    const at = this.#waiting.indexOf(waiting);
    if (at < 0) return;
    this.#waiting.splice(at, 1);
    waiting.hasLeft = true;
    waiting.receive(process);
  }
}

function textOf({ component, source }: ProcessOwner): string {
  return JSON.stringify([component, source]);
}
