// Changes that are collected until each is due at its own pace, and then told together.

/** The changes of one feature. */
export class PacedChanges<C> {
  /** The pause in ms of a change that comes now. */
  readonly #pauseMs: (change: C) => number;
  /** Receives all changes that are due. */
  readonly #onDue: (changes: ReadonlySet<C>) => void;
  /** Timers of changes that are not due yet. */
  readonly #waiting = new Map<C, NodeJS.Timeout>();
  readonly #due = new Set<C>();
  #told: NodeJS.Immediate | undefined;

  constructor(pauseMs: (change: C) => number, onDue: (changes: ReadonlySet<C>) => void) {
    this.#pauseMs = pauseMs;
    this.#onDue = onDue;
  }

  /** Adds a change. A change that waits is not added twice. */
  add(change: C): void {
    if (this.#waiting.has(change)) return;
    const timer = setTimeout(() => this.#end(change), this.#pauseMs(change));
    this.#waiting.set(change, timer);
  }

  /** Forgets all changes. */
  stop(): void {
    for (const timer of this.#waiting.values()) clearTimeout(timer);
    this.#waiting.clear();
    clearImmediate(this.#told);
  }

  /** Timers of the same ms end one after the other: their changes are told together. */
  #end(change: C): void {
    this.#waiting.delete(change);
    this.#due.add(change);
    this.#told ??= setImmediate(() => {
      this.#told = undefined;
      const due = new Set(this.#due);
      this.#due.clear();
      this.#onDue(due);
    });
  }
}
