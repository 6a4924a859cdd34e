// Objects of the API held in memory, within a limit. Objects beyond the limit are read from the API when needed. Namespaces share the limit: an
// object of a small namespace replaces objects of the largest one, so that one namespace cannot take the memory of all others.

import type { Reading } from "../../../src/kube/object-parts.ts";

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

/** The stored part of an object whose whole text counts as its size; undefined for an object that cannot be read. */
export function storedWhole<T extends { readonly namespace: string; readonly name: string }>(
  read: Reading<T>,
  object: unknown,
): StoredObject<T> | undefined {
  if (!read.ok) return undefined;
  const { namespace, name } = read.value;
  return { namespace, name, value: read.value, size: JSON.stringify(object).length };
}

/** Memory of each object besides its texts: the maps' entries and the object's own parts. */
const overhead = 200;

/** The objects of one namespace. */
interface NamespaceObjects<T> {
  /** By name, the object that was stored first at the beginning. */
  readonly objects: Map<string, StoredObject<T>>;
  size: number;
}

/** Objects by namespace and name, within the limits. */
export class ObjectStore<T> {
  readonly #bounds: StoreBounds;
  readonly #namespaces = new Map<string, NamespaceObjects<T>>();
  /** The namespaces by the binary logarithm of their size, so that a large one is found without looking at all of them. */
  readonly #bySize: Set<NamespaceObjects<T>>[] = Array.from({ length: 64 }, () => new Set());
  #count = 0;
  #size = 0;
  #refused = 0;
  /** The namespaces of refused objects. */
  readonly #refusedOf = new Set<string>();

  constructor(bounds: StoreBounds) {
    this.#bounds = bounds;
  }

  get count(): number {
    return this.#count;
  }

  /** Number of objects that were refused for their size, or removed for another namespace, since the store was created. */
  get refused(): number {
    return this.#refused;
  }

  /** Whether an object of the namespace was refused, or removed for another namespace, since the store was created. */
  hasRefused(namespace: string): boolean {
    return this.#refusedOf.has(namespace);
  }

  get(namespace: string, name: string): T | undefined {
    return this.#namespaces.get(namespace)?.objects.get(name)?.value;
  }

  /** All objects, in no order. */
  *all(): Iterable<StoredObject<T>> {
    for (const { objects } of this.#namespaces.values()) yield* objects.values();
  }

  /**
   * Stores the object in place of its previous version. If the limit is reached, objects of larger namespaces are removed, the oldest first.
   * An object that is too large, or of a namespace that is among the largest itself, is not stored, and its previous version is removed.
   */
  put(object: StoredObject<T>): void {
    this.remove(object.namespace, object.name);
    if (object.size > this.#bounds.maxObject || !this.#freeSpaceFor(object)) {
      this.#refuse(object.namespace);
      return;
    }
    const known = this.#namespaces.get(object.namespace) ?? { objects: new Map(), size: 0 };
    this.#namespaces.set(object.namespace, known);
    known.objects.set(object.name, object);
    this.#count += 1;
    this.#resize(known, object.size + overhead);
  }

  remove(namespace: string, name: string): void {
    const known = this.#namespaces.get(namespace);
    const object = known?.objects.get(name);
    if (known === undefined || object === undefined) return;
    known.objects.delete(name);
    this.#count -= 1;
    this.#resize(known, -(object.size + overhead));
    if (known.objects.size === 0) this.#namespaces.delete(namespace);
  }

  /** Removes objects of namespaces that are larger than the object's would become; false if the store is still too full. */
  #freeSpaceFor({ namespace, size }: StoredObject<T>): boolean {
    const needed = size + overhead;
    const wanted = (this.#namespaces.get(namespace)?.size ?? 0) + needed;
    while (this.#size + needed > this.#bounds.maxTotal) {
      const largest = this.#largest();
      const [oldest] = largest?.objects.values() ?? [];
      if (largest === undefined || oldest === undefined || largest.size <= wanted) return false;
      this.remove(oldest.namespace, oldest.name);
      this.#refuse(oldest.namespace);
    }
    return true;
  }

  #refuse(namespace: string): void {
    this.#refused += 1;
    this.#refusedOf.add(namespace);
  }

  /** A namespace of which no other is twice as large. */
  #largest(): NamespaceObjects<T> | undefined {
    const [largest] = this.#bySize.findLast((namespaces) => namespaces.size > 0) ?? [];
    return largest;
  }

  #resize(namespace: NamespaceObjects<T>, change: number): void {
    this.#bySize[Math.floor(Math.log2(namespace.size + 1))]?.delete(namespace);
    namespace.size += change;
    this.#size += change;
    if (namespace.size > 0) this.#bySize[Math.floor(Math.log2(namespace.size + 1))]?.add(namespace);
  }
}
