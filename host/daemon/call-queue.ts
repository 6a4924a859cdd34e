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

  /** Runs `serve` when it is its turn, in the order of arrival; undefined, at once, where the queue is full. */
  enter<T>(serve: () => Promise<T>): Promise<T> | undefined {
    if (this.#active < this.#bounds.active) {
      this.#active += 1;
      return this.#run(serve);
    }
    if (this.#waiters.length >= this.#bounds.waiting) return undefined;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiters.push(resolve);
    return promise.then(() => this.#run(serve));
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
