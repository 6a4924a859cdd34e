// How long the event loop waits for a disk before it leaves it to threads.

const distrustMs = 10_000;

/** Whether something may be waited for: not for a while after it took too long so many times in a row. */
export class Patience {
  readonly #mostMs: number;
  readonly #times: number;
  #late = 0;
  #distrustedUntil = 0;

  constructor(mostMs: number, times: number) {
    this.#mostMs = mostMs;
    this.#times = times;
  }

  get holds(): boolean {
    return this.#mostMs > 0 && performance.now() >= this.#distrustedUntil;
  }

  during<T>(act: () => T): T {
    const started = performance.now();
    try {
      return act();
    } finally {
      const now = performance.now();
      this.#late = now - started > this.#mostMs ? this.#late + 1 : 0;
      if (this.#late >= this.#times) this.#distrustedUntil = now + distrustMs;
    }
  }
}
