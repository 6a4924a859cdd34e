// Bounds how often the newest of many values has an effect: at once, and then once in a window at most. The last value is always handled.

/** Handles values by key. */
export class LatestOfWindow<T> {
  readonly #windowMs: number;
  readonly #handle: (value: T) => boolean;
  /** The keys whose window is open, each with its timer and with the newest value that waits. */
  readonly #open = new Map<string, { readonly timer: NodeJS.Timeout; waiting: { readonly value: T } | undefined }>();

  /** `handle` answers whether the value had an effect. `windowMs`: minimum time from such a call to the next one for the same key. */
  constructor(windowMs: number, handle: (value: T) => boolean) {
    this.#windowMs = windowMs;
    this.#handle = handle;
  }

  /** Handles the value now, or at the end of the key's window unless a newer value comes. */
  add(key: string, value: T): void {
    const open = this.#open.get(key);
    if (open !== undefined) open.waiting = { value };
    else this.#begin(key, value);
  }

  /** Handles what waits. */
  end(): void {
    const all = [...this.#open.values()];
    this.#open.clear();
    for (const { timer, waiting } of all) {
      clearTimeout(timer);
      if (waiting !== undefined) this.#handle(waiting.value);
    }
  }

  #begin(key: string, value: T): void {
    if (!this.#handle(value)) return;
    const timer = setTimeout(() => {
      const waiting = this.#open.get(key)?.waiting;
      this.#open.delete(key);
      if (waiting !== undefined) this.#begin(key, waiting.value);
    }, this.#windowMs);
    // The timer must not keep a daemon alive that has otherwise ended.
    timer.unref();
    this.#open.set(key, { timer, waiting: undefined });
  }
}
