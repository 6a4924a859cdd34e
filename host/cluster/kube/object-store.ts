// Objects of the API held in memory, within a limit. Objects beyond the limit are read from the API when needed.

/** Limits of a store. */
export interface StoreBounds {
  /** Maximum size of one object, in characters. */
  readonly maxObject: number;
  /** Maximum size of all objects, in characters. */
  readonly maxTotal: number;
}

/** The stored part of an object. */
export interface StoredObject<T> {
  readonly namespace: string;
  readonly name: string;
  readonly value: T;
  /** Size of the object in characters. */
  readonly size: number;
}

/** Memory of each object besides its texts: the map's entry and the object's own parts. */
const overhead = 200;

/** Objects by namespace and name, within the limits. */
export class ObjectStore<T> {
  readonly #bounds: StoreBounds;
  readonly #objects = new Map<string, StoredObject<T>>();
  #size = 0;
  #refused = 0;

  constructor(bounds: StoreBounds) {
    this.#bounds = bounds;
  }

  get count(): number {
    return this.#objects.size;
  }

  /** Number of objects that were refused for their size since the store was created. */
  get refused(): number {
    return this.#refused;
  }

  get(namespace: string, name: string): T | undefined {
    return this.#objects.get(`${namespace}/${name}`)?.value;
  }

  /**
   * Stores the object in place of its previous version. An object that is too large is not stored, and its previous version is
   * removed.
   */
  put(object: StoredObject<T>): void {
    this.remove(object.namespace, object.name);
    const { maxObject, maxTotal } = this.#bounds;
    if (object.size > maxObject || this.#size + object.size + overhead > maxTotal) {
      this.#refused += 1;
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
