// Decides when a failed operation is repeated: after a pause that doubles with each failure.

/** The pause after the first failure, and the maximum pause, in milliseconds. */
export interface RetryTerms {
  readonly firstMs: number;
  readonly maxMs: number;
}

/** The failures of several operations. */
export class Retries {
  readonly #terms: RetryTerms;
  readonly #failed = new Map<string, { readonly count: number; readonly dueAt: number }>();

  constructor(terms: RetryTerms) {
    this.#terms = terms;
  }

  /** Whether the operation may be tried; `nowMs` of a monotonic clock. */
  isDue(what: string, nowMs: number): boolean {
    return nowMs >= (this.#failed.get(what)?.dueAt ?? 0);
  }

  /** Records a failure, which begins or doubles the pause. */
  failed(what: string, nowMs: number): void {
    const count = (this.#failed.get(what)?.count ?? 0) + 1;
    const pause = Math.min(this.#terms.maxMs, this.#terms.firstMs * 2 ** (count - 1));
    this.#failed.set(what, { count, dueAt: nowMs + pause });
  }

  /** Ends the pause, and forgets the failures. */
  succeeded(what: string): void {
    this.#failed.delete(what);
  }

  /** Forgets all other operations. */
  keep(these: ReadonlySet<string>): void {
    for (const what of this.#failed.keys()) if (!these.has(what)) this.#failed.delete(what);
  }
}
