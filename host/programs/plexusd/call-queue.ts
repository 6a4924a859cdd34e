// How many calls are served at once, and how many wait for their turn (MO-29): what is beyond is refused at once, so that memory
// stays bounded and a runtime hears of it while it can still wait by itself.

export interface QueueBounds {
  /** Calls that are served at once. */
  readonly active: number;
  /** Calls that wait. */
  readonly waiting: number;
}

export class CallQueue {
  readonly #bounds: QueueBounds;
  readonly #waiters: (() => void)[] = [];
  #active = 0;

  constructor(bounds: QueueBounds) {
    this.#bounds = bounds;
  }

  /** Calls that are being served. */
  get active(): number {
    return this.#active;
  }

  /** Calls that wait. */
  get waiting(): number {
    return this.#waiters.length;
  }

  /**
   * Runs `serve` when it is its turn, in the order of arrival; undefined, at once, where the queue is full. Who has to wait gives `mayLeave`
   * what to call when nobody waits for the call any more: it answers undefined then, and its place is free.
   */
  enter<T>(serve: () => Promise<T>, mayLeave: (leave: () => void) => void): Promise<T | undefined> | undefined {
    if (this.#active < this.#bounds.active) {
      this.#active += 1;
      return this.#run(serve);
    }
    if (this.#waiters.length >= this.#bounds.waiting) return undefined;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const turn = (): void => resolve(true);
    this.#waiters.push(turn);
    mayLeave(() => {
      const place = this.#waiters.indexOf(turn);
      if (place >= 0) this.#waiters.splice(place, 1);
      resolve(false);
    });
    return promise.then((served) => (served ? this.#run(serve) : undefined));
  }

  async #run<T>(serve: () => Promise<T>): Promise<T> {
    try {
      return await serve();
    } finally {
      // The place goes to who waits longest, so that nobody who comes now gets in between.
      const next = this.#waiters.shift();
      if (next === undefined) this.#active -= 1;
      else next();
    }
  }
}
