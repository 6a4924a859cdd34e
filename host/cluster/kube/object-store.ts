// Objects of the API held in memory, within a bound: what doesn't fit is not held, and is asked for when it is needed.

export interface StoreBounds {
  /** Characters of one object. */
  readonly largest: number;
  /** Characters of all. */
  readonly most: number;
}

/** What is kept of an object. */
export interface StoredObject<T> {
  readonly namespace: string;
  readonly name: string;
  readonly value: T;
  /** Characters that it takes. */
  readonly size: number;
}

/** Counted for each object besides its texts: the map's entry and the object's own parts. */
const overhead = 200;

export class ObjectStore<T> {
  readonly #bounds: StoreBounds;
  readonly #objects = new Map<string, StoredObject<T>>();
  #size = 0;
  #left = 0;

  constructor(bounds: StoreBounds) {
    this.#bounds = bounds;
  }

  get count(): number {
    return this.#objects.size;
  }

  /** Objects that were not taken for their size since the store was made. */
  get refused(): number {
    return this.#left;
  }

  get(namespace: string, name: string): T | undefined {
    return this.#objects.get(`${namespace}/${name}`)?.value;
  }

  /** Takes it in place of the one that it had, unless it is too large: then it has none of that name. */
  put(object: StoredObject<T>): void {
    this.remove(object.namespace, object.name);
    const { largest, most } = this.#bounds;
    if (object.size > largest || this.#size + object.size + overhead > most) {
      this.#left += 1;
      return;
    }
    this.#objects.set(`${object.namespace}/${object.name}`, object);
    this.#size += object.size + overhead;
  }

  remove(namespace: string, name: string): void {
    const key = `${namespace}/${name}`;
    const known = this.#objects.get(key);
    if (known === undefined) return;
    this.#objects.delete(key);
    this.#size -= known.size + overhead;
  }
}
