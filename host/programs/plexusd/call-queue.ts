// Bounds how many calls are served at once and how many wait (MO-29), and divides both fairly between Kubernetes namespaces: slow calls of
// one namespace must not delay the calls of another. Each namespace is a lane of its own.

/** The bounds of a queue (--calls and --queue). */
export interface QueueBounds {
  /** Maximum calls that are served at once. */
  readonly active: number;
  /** Maximum calls that wait. */
  readonly waiting: number;
}

/** The reason why a call left the queue unserved: its caller is gone, the queue is full, or the daemon stops. */
type Unserved = "left" | "refused" | "given-back";

/** The end of a call's wait in the queue. */
export type Turn<T> = { readonly kind: "served"; readonly value: T } | { readonly kind: Unserved };

/** The calls of one namespace. */
interface Lane {
  readonly name: string;
  active: number;
  /** The number of the lane's last call, counted over all lanes; 0: none began yet. */
  lastBegun: number;
  /** The waiting calls in order of arrival. Each function gets how its call leaves the queue. */
  readonly waiters: Set<(end: "turn" | Unserved) => void>;
}

/**
 * A queue of calls with one lane for each namespace. The rules:
 * - A lane never has more active calls than it leaves slots free, but always gets one call if a slot is free. So a namespace alone gets half
 *   of the slots, and the first call of another namespace begins at once. Calls can't be interrupted, so free slots are the only reserve.
 *   Calls without a namespace have no such bound: no author of a definition makes them (GC, STATUS, containers that are no pods).
 * - A free slot goes to the waiting lane with the fewest active calls, among equals to the lane whose last call began first. A lane's calls are
 *   served in order of arrival.
 * - If too many calls wait, the newest call of the longest lane is refused, not the call that arrives from a shorter lane.
 */
export class CallQueue {
  readonly #bounds: QueueBounds;
  /** Lanes with active or waiting calls. */
  readonly #lanes = new Map<string, Lane>();
  readonly #waitingLanes = new Set<Lane>();
  #active = 0;
  #begun = 0;
  #waiting = 0;

  constructor(bounds: QueueBounds) {
    this.#bounds = bounds;
  }

  /** Calls that are being served. */
  get active(): number {
    return this.#active;
  }

  /** Calls that wait. */
  get waiting(): number {
    return this.#waiting;
  }

  /**
   * Runs `serve` when the call's turn has come. `laneName` is the call's namespace; calls without one share the lane "". A waiting call
   * passes a function to `mayLeave`. Call that function when the caller is gone: the call then leaves the queue. Rejects only if `serve` does.
   */
  async enter<T>(laneName: string, serve: () => Promise<T>, mayLeave: (leave: () => void) => void): Promise<Turn<T>> {
    const lane = this.#lane(laneName);
    if (lane.waiters.size === 0 && this.#mayBegin(lane)) {
      this.#begin(lane);
      return this.#run(lane, serve);
    }
    if (this.#waiting >= this.#bounds.waiting && !this.#refuseNewestOfLongest(lane)) {
      this.#forgetIfEmpty(lane);
      return { kind: "refused" };
    }
    const end = await this.#wait(lane, mayLeave);
    return end === "turn" ? this.#run(lane, serve) : { kind: end };
  }

  /** Ends the wait of all waiting calls. Running calls are not affected. */
  giveBack(): void {
    for (const lane of this.#waitingLanes) for (const waiter of lane.waiters) this.#endWait(lane, waiter, "given-back");
  }

  #lane(name: string): Lane {
    const known = this.#lanes.get(name);
    if (known !== undefined) return known;
    const lane: Lane = { name, active: 0, lastBegun: 0, waiters: new Set() };
    this.#lanes.set(name, lane);
    return lane;
  }

  #forgetIfEmpty({ name, active, waiters }: Lane): void {
    if (active === 0 && waiters.size === 0) this.#lanes.delete(name);
  }

  #mayBegin({ name, active }: Lane): boolean {
    const free = this.#bounds.active - this.#active;
    return free > 0 && (active === 0 || active < free || name === "");
  }

  /** Takes a slot for the lane. */
  #begin(lane: Lane): void {
    lane.active += 1;
    lane.lastBegun = ++this.#begun;
    this.#active += 1;
  }

  #wait(lane: Lane, mayLeave: (leave: () => void) => void): Promise<"turn" | Unserved> {
    const { promise, resolve } = Promise.withResolvers<"turn" | Unserved>();
    lane.waiters.add(resolve);
    this.#waitingLanes.add(lane);
    this.#waiting += 1;
    mayLeave(() => {
      if (lane.waiters.has(resolve)) this.#endWait(lane, resolve, "left");
    });
    return promise;
  }

  #endWait(lane: Lane, resolve: (end: "turn" | Unserved) => void, end: "turn" | Unserved): void {
    lane.waiters.delete(resolve);
    this.#waiting -= 1;
    if (lane.waiters.size === 0) this.#waitingLanes.delete(lane);
    this.#forgetIfEmpty(lane);
    resolve(end);
  }

  /** Refuses the newest call of the lane with the most waiting calls; false if `lane` itself would then have the most. */
  #refuseNewestOfLongest(lane: Lane): boolean {
    let longest = lane;
    for (const each of this.#waitingLanes) if (each.waiters.size > longest.waiters.size) longest = each;
    const newest = [...longest.waiters].at(-1);
    if (newest === undefined || longest.waiters.size <= lane.waiters.size + 1) return false;
    this.#endWait(longest, newest, "refused");
    return true;
  }

  async #run<T>(lane: Lane, serve: () => Promise<T>): Promise<Turn<T>> {
    try {
      return { kind: "served", value: await serve() };
    } finally {
      lane.active -= 1;
      this.#active -= 1;
      this.#forgetIfEmpty(lane);
      this.#beginWaiting();
    }
  }

  /** Gives the free slots to waiting calls. A call keeps its slot from here on, so that a new call cannot overtake it. */
  #beginWaiting(): void {
    for (let lane = this.#next(); lane !== undefined; lane = this.#next()) {
      const [oldest] = lane.waiters;
      if (oldest === undefined) return;
      this.#begin(lane);
      this.#endWait(lane, oldest, "turn");
    }
  }

  /** The waiting lane that gets the next free slot. */
  #next(): Lane | undefined {
    let next: Lane | undefined;
    for (const lane of this.#waitingLanes) {
      if (this.#mayBegin(lane) && (next === undefined || comesBefore(lane, next))) next = lane;
    }
    return next;
  }
}

function comesBefore(one: Lane, other: Lane): boolean {
  return one.active === other.active ? one.lastBegun < other.lastBegun : one.active < other.active;
}
