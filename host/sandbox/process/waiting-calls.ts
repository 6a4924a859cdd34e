// Calls that wait for a sandbox process, in the order of their arrival. Calls of one component may share a process.

/** Receives the process for a call, or undefined if there is none. */
type Receive<P> = (process: P | undefined) => void;

interface Waiting<P> {
  readonly sharedKey: string | undefined;
  readonly receive: Receive<P>;
}

/** The queue of a pool; `P` is a process of the pool. */
export class WaitingCalls<P> {
  private readonly waiting: Waiting<P>[] = [];
  private readonly maxCallsPerProcess: number;

  /** `maxCallsPerProcess`: calls with the same key that may share a process. */
  constructor(maxCallsPerProcess: number) {
    this.maxCallsPerProcess = maxCallsPerProcess;
  }

  get size(): number {
    return this.waiting.length;
  }

  /**
   * Adds a call. `receive` is called once: with a process, or with undefined after `waitMs`. Calls with the same `sharedKey` may share a
   * process; undefined: the call needs its own process.
   */
  add(sharedKey: string | undefined, waitMs: number, receive: Receive<P>): void {
    const waiting: Waiting<P> = {
      sharedKey,
      receive: (process) => {
        clearTimeout(timer);
        receive(process);
      },
    };
    const timer = setTimeout(() => {
      const at = this.waiting.indexOf(waiting);
      if (at >= 0) this.waiting.splice(at, 1);
      receive(undefined);
    }, waitMs);
    this.waiting.push(waiting);
  }

  /** The number of processes that all waiting calls need. */
  get neededProcesses(): number {
    const callsByKey = new Map<string, number>();
    let unshared = 0;
    for (const { sharedKey } of this.waiting) {
      if (sharedKey === undefined) unshared += 1;
      else callsByKey.set(sharedKey, (callsByKey.get(sharedKey) ?? 0) + 1);
    }
    return [...callsByKey.values()].reduce((sum, calls) => sum + Math.ceil(calls / this.maxCallsPerProcess), unshared);
  }

  /** The call that gets the next free process; undefined if no call waits. */
  get first(): { readonly sharedKey: string | undefined } | undefined {
    return this.waiting[0];
  }

  /** Removes the first call, or the first call with this key; answers its `receive`. */
  next(sharedKey?: string): Receive<P> | undefined {
    const at = sharedKey === undefined ? 0 : this.waiting.findIndex((each) => each.sharedKey === sharedKey);
    return at < 0 ? undefined : this.waiting.splice(at, 1)[0]?.receive;
  }

  /** Refuses the first call and all calls with its key. */
  refuseFirst(): void {
    const { sharedKey } = this.first ?? {};
    this.next()?.(undefined);
    if (sharedKey === undefined) return;
    for (let receive = this.next(sharedKey); receive !== undefined; receive = this.next(sharedKey)) receive(undefined);
  }

  /** Refuses all calls. */
  refuseAll(): void {
    for (const { receive } of this.waiting.splice(0)) receive(undefined);
  }
}
