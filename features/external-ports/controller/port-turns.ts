// One operation at a time on each port. An operation searches for a port and then makes or removes it; no other operation may run in between.

/** The operations that run or wait, in this process. */
export class PortTurns {
  /** The last operation of each key. */
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs the operation when all earlier ones of the key have ended, whatever their outcome. */
  async take<T>(key: string, operation: () => Promise<T>): Promise<T> {
    const earlier = this.#last.get(key) ?? Promise.resolve();
    const outcome = earlier.then(operation, operation);
    this.#last.set(key, outcome);
    try {
      return await outcome;
    } finally {
      if (this.#last.get(key) === outcome) this.#last.delete(key);
    }
  }
}
