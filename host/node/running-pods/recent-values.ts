// Values that were made from other objects lately. Pods with the same objects share one value: a node computes and keeps it once.

interface Kept<T> {
  readonly number: number;
  readonly key: string;
  readonly objects: readonly WeakRef<object>[];
  readonly value: T;
  readonly size: number;
}

/**
 * The values that were asked last, by a key and the identity of the objects that they are made from. The objects must not change. A value goes when one of its
 * objects is collected, because no caller can ask for the value any more: until a watch has its objects, each call reads other ones.
 */
export class RecentValues<T> {
  /** Maximum values. */
  readonly #maxValues: number;
  /** Maximum size of all values; the newest value is kept, whatever its size. */
  readonly #maxSize: number;
  /** The size of a value, in the unit of `maxSize`. */
  readonly #sizeOf: (value: T) => number;
  /** The value that was asked last is the first. */
  readonly #kept: Kept<T>[] = [];
  /** Holds the values' numbers: a value that it held would stay as long as any of its objects. */
  readonly #collected = new FinalizationRegistry<number>((number) => {
    const index = this.#kept.findIndex((each) => each.number === number);
    if (index !== -1) this.#forget(this.#kept.splice(index, 1));
  });
  #numbers = 0;

  constructor(maxValues: number, maxSize: number, sizeOf: (value: T) => number) {
    this.#maxValues = maxValues;
    this.#maxSize = maxSize;
    this.#sizeOf = sizeOf;
  }

  /** The value of the key and the objects; `make` makes it if it is not kept. */
  of(key: string, objects: readonly object[], make: () => T): T {
    const index = this.#kept.findIndex((each) => each.key === key && areSame(each.objects, objects));
    const [known] = index === -1 ? [] : this.#kept.splice(index, 1);
    const found = known ?? this.#made(key, objects, make());
    this.#kept.unshift(found);
    let size = this.#kept.reduce((sum, each) => sum + each.size, 0);
    while (this.#kept.length > 1 && (this.#kept.length > this.#maxValues || size > this.#maxSize)) {
      const last = this.#kept.splice(-1);
      this.#forget(last);
      size -= last[0]?.size ?? 0;
    }
    return found.value;
  }

  #made(key: string, objects: readonly object[], value: T): Kept<T> {
    const number = (this.#numbers += 1);
    const kept = { number, key, objects: objects.map((each) => new WeakRef(each)), value, size: this.#sizeOf(value) };
    for (const each of objects) this.#collected.register(each, number, kept);
    return kept;
  }

  #forget(gone: readonly Kept<T>[]): void {
    for (const each of gone) this.#collected.unregister(each);
  }
}

function areSame(kept: readonly WeakRef<object>[], asked: readonly object[]): boolean {
  return kept.length === asked.length && kept.every((each, index) => each.deref() === asked[index]);
}
