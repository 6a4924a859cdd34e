// Bounds how many calls are served at once and how many wait (MO-29). Further calls are refused at once: memory stays bounded, and the
// runtime learns of the overload while it still has time to try again.

/** The bounds of a queue (--calls and --queue). */
export interface QueueBounds {
  /** Maximum calls that are served at once. */
  readonly active: number;
  /** Maximum calls that wait. */
  readonly waiting: number;
}

/** A queue of calls, in order of arrival. */
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
   * Runs `serve` when the call's turn has come; answers undefined at once if the queue is full. A waiting call passes a function to
   * `mayLeave`. Call that function when the caller is gone: the call then leaves the queue, and the promise resolves to undefined.
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
      // The longest waiting call inherits the place, so that a new call cannot overtake it.
      const next = this.#waiters.shift();
      if (next === undefined) this.#active -= 1;
      else next();
    }
  }
}
