// One operation at a time for each interface: tags and addresses of an interface change together.

/** The waiting operations. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs the operation when all earlier ones of this name have ended. */
  async take<T>(name: string, operation: () => Promise<T>): Promise<T> {
    const before = this.#last.get(name) ?? Promise.resolve();
    const own = before.then(operation, operation);
    this.#last.set(name, own);
    try {
      return await own;
    } finally {
      if (this.#last.get(name) === own) this.#last.delete(name);
    }
  }
}
