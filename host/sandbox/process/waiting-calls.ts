// Calls that wait for a sandbox process. Namespaces take turns, and the calls of one namespace are served in the order of their arrival. Calls of
// one owner may share a process.

import { FairTurns } from "./fair-turns.ts";
import type { ProcessOwner } from "./process-owner.ts";

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
