// When something that failed is tried again: after a pause that doubles with each failure.

/** Pauses in ms: after the first failure, and the longest. */
export interface RetryTerms {
  readonly firstMs: number;
  readonly longestMs: number;
}

export class Retries {
  readonly #terms: RetryTerms;
  readonly #failed = new Map<string, { readonly count: number; readonly dueMs: number }>();

  constructor(terms: RetryTerms) {
    this.#terms = terms;
  }

  /** Whether it may be tried; `nowMs` of a clock that never goes back. */
  isDue(what: string, nowMs: number): boolean {
    return nowMs >= (this.#failed.get(what)?.dueMs ?? 0);
  }

  failed(what: string, nowMs: number): void {
    const count = (this.#failed.get(what)?.count ?? 0) + 1;
    const pause = Math.min(this.#terms.longestMs, this.#terms.firstMs * 2 ** (count - 1));
    this.#failed.set(what, { count, dueMs: nowMs + pause });
  }

  /** Forgets all but these. */
  keep(these: ReadonlySet<string>): void {
    for (const what of this.#failed.keys()) if (!these.has(what)) this.#failed.delete(what);
  }
}
