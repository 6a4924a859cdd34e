// A cache of parsed texts: a node's pods bring the same few configurations again and again.

/**
 * The parsed values of the most recently used texts. When there are more than `maxTexts`, the least recently used text is
 * removed.
 */
export class RecentTexts<T> {
  readonly #maxTexts: number;
  readonly #maxLength: number;
  readonly #known = new Map<string, T>();

  /** `maxLength`: in UTF-16 units; longer texts are not cached. A parsed value may take twenty times as many bytes. */
  constructor({ maxTexts, maxLength }: { readonly maxTexts: number; readonly maxLength: number }) {
    this.#maxTexts = maxTexts;
    this.#maxLength = maxLength;
  }

  get(text: string): T | undefined {
    const same = this.#known.get(text);
    if (same !== undefined) this.put(text, same);
    return same;
  }

  put(text: string, value: T): void {
    if (text.length > this.#maxLength) return;
    this.#known.delete(text);
    const [oldest] = this.#known.keys();
    if (this.#known.size >= this.#maxTexts && oldest !== undefined) this.#known.delete(oldest);
    this.#known.set(text, value);
  }
}
