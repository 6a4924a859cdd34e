// What texts mean that came a short while ago: a node's pods bring the same few configurations again and again.

/** The meanings of the texts that came last; of several more than `most` the one that came longest ago makes way. */
export class RecentTexts<T> {
  readonly #most: number;
  readonly #longest: number;
  readonly #known = new Map<string, T>();

  /** `longest`: UTF-16 units; longer texts are worked out each time. What they mean may take twenty times as many bytes. */
  constructor({ most, longest }: { readonly most: number; readonly longest: number }) {
    this.#most = most;
    this.#longest = longest;
  }

  get(text: string): T | undefined {
    const same = this.#known.get(text);
    if (same !== undefined) this.put(text, same);
    return same;
  }

  put(text: string, meaning: T): void {
    if (text.length > this.#longest) return;
    this.#known.delete(text);
    const [oldest] = this.#known.keys();
    if (this.#known.size >= this.#most && oldest !== undefined) this.#known.delete(oldest);
    this.#known.set(text, meaning);
  }
}
