// An index of the objects that use others, by user, so that a change wakes only what it affects.

/** The keys of the objects that one user names. */
export type UsedKeys = readonly string[];

const maxLists = 10_000;

/** The index. */
export class Users {
  readonly #used = new Map<string, UsedKeys>();
  readonly #users = new Map<string, Set<string>>();
  /** Lists of keys by their text: many users name the same objects, and share one list. */
  readonly #lists = new Map<string, UsedKeys>();

  /** Sets what a user names; nothing if it is gone. Answers all keys that the change affects. */
  set(user: string, used: UsedKeys): readonly string[] {
    const before = this.#used.get(user) ?? [];
    for (const key of before) {
      const users = this.#users.get(key);
      users?.delete(user);
      if (users?.size === 0) this.#users.delete(key);
    }
    for (const key of used) this.#users.set(key, (this.#users.get(key) ?? new Set()).add(user));
    if (used.length === 0) this.#used.delete(user);
    else this.#used.set(user, this.#shared(used));
    return [...new Set([...before, ...used])];
  }

  /** Whether a key has a user. */
  has(key: string): boolean {
    return this.#users.has(key);
  }

  /** The users of a key. */
  of(key: string): readonly string[] {
    return [...(this.#users.get(key) ?? [])];
  }

  #shared(used: UsedKeys): UsedKeys {
    const text = used.join("\n");
    const known = this.#lists.get(text);
    if (known !== undefined) return known;
    if (this.#lists.size >= maxLists) this.#lists.clear();
    this.#lists.set(text, used);
    return used;
  }
}
