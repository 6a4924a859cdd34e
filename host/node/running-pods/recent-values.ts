// Values that were made from other objects lately. Pods with the same objects share one value: a node computes and keeps it once.

/** Bounds of the kept values. */
export interface RecentValuesInit<T> {
  /** Maximum values. */
  readonly maxValues: number;
  /** Maximum size of all values; the newest value is kept, whatever its size. */
  readonly maxSize: number;
  /** The size of a value, in the unit of `maxSize`. */
  readonly sizeOf: (value: T) => number;
}

interface Kept<T> {
  readonly key: string;
  readonly objects: readonly object[];
  readonly value: T;
  readonly size: number;
}

/** The values that were asked last, by a key and the identity of the objects that they are made from. The objects must not change. */
export class RecentValues<T> {
  readonly #init: RecentValuesInit<T>;
  /** The value that was asked last is the first. */
  readonly #kept: Kept<T>[] = [];

  constructor(init: RecentValuesInit<T>) {
    this.#init = init;
  }

  /** The value of the key and the objects; `make` makes it if it is not kept. */
  of(key: string, objects: readonly object[], make: () => T): T {
    const index = this.#kept.findIndex((each) => each.key === key && areSame(each.objects, objects));
    const [known] = index === -1 ? [] : this.#kept.splice(index, 1);
    const found = known ?? this.#made(key, objects, make());
    this.#kept.unshift(found);
    let size = this.#kept.reduce((sum, each) => sum + each.size, 0);
    while (this.#kept.length > 1 && (this.#kept.length > this.#init.maxValues || size > this.#init.maxSize))
      size -= this.#kept.pop()?.size ?? 0;
    return found.value;
  }

  #made(key: string, objects: readonly object[], value: T): Kept<T> {
    return { key, objects, value, size: this.#init.sizeOf(value) };
  }
}

function areSame(one: readonly object[], other: readonly object[]): boolean {
  return one.length === other.length && one.every((each, index) => each === other[index]);
}
