// The failures of contenders in a comparison: a failure removes only that contender's rows.

/** Why contenders failed, by part of the comparison ("pod0", "crowd", "callers") and contender. */
export class ContenderFailures {
  readonly #texts = new Map<string, string>();

  /** Records and prints the first failure of a contender in this part. */
  add(part: string, contender: string, error: unknown): void {
    const text = error instanceof Error ? error.message : String(error);
    const key = keyOf(part, contender);
    if (this.#texts.has(key)) return;
    this.#texts.set(key, text);
    process.stderr.write(`plexus: ${contender} fails in ${part} and loses its rows there: ${text.slice(0, 300)}\n`);
  }

  has(part: string, contender: string): boolean {
    return this.#texts.has(keyOf(part, contender));
  }

  /** Throws the failure of the first of these contenders that failed in this part. */
  throwAny(part: string, ...contenders: readonly string[]): void {
    for (const contender of contenders) {
      const text = this.#texts.get(keyOf(part, contender));
      if (text !== undefined) throw new Error(text);
    }
  }
}

function keyOf(part: string, contender: string): string {
  return `${part} ${contender}`;
}
