// The objects that a reflector holds: what a list or a watch event changes, and who hears of it.

import { isJsonObject } from "../../../src/json/document.ts";
import { ObjectStore, type StoreBounds, type StoredObject } from "./object-store.ts";

/** How objects are read and held, and who is told of them. */
export interface ObjectHandling<T> {
  readonly bounds: StoreBounds;
  /** The stored part of an object; undefined if the object cannot be read, so that lookups ask the server. */
  readonly read: (object: unknown) => StoredObject<T> | undefined;
  /** Called for each new object. */
  readonly onNew?: (object: StoredObject<T>) => void;
  /** Called for each object that was listed, created, changed or removed, after the stored objects have changed. */
  readonly onChange?: (namespace: string, name: string) => void;
  /** Called after the first list. Objects that a caller has read before may be gone, and no call of `onChange` tells of them. */
  readonly onFirstList?: () => void;
}

/** The objects of a list that is not complete yet. */
export interface ObjectList<T> {
  readonly store: ObjectStore<T>;
  add(object: unknown): void;
}

/** The held objects. */
export class ReflectedObjects<T> {
  readonly #handling: ObjectHandling<T>;
  #store: ObjectStore<T>;
  #isListed = false;

  constructor(handling: ObjectHandling<T>) {
    this.#handling = handling;
    this.#store = new ObjectStore(handling.bounds);
  }

  get count(): number {
    return this.#store.count;
  }

  /** The number of objects that were too large to be held. */
  get refused(): number {
    return this.#store.refused;
  }

  /** Whether an object of the namespace was too large to be held. */
  hasRefused(namespace: string): boolean {
    return this.#store.hasRefused(namespace);
  }

  get(namespace: string, name: string): T | undefined {
    return this.#store.get(namespace, name);
  }

  all(): Iterable<StoredObject<T>> {
    return this.#store.all();
  }

  /** Begins a list, with which `replace` replaces the held objects. */
  emptyList(): ObjectList<T> {
    const store = new ObjectStore<T>(this.#handling.bounds);
    return { store, add: (object) => void this.#put(store, object) };
  }

  /** Replaces the held objects, and tells of all of them: those that are gone first. */
  replace({ store }: ObjectList<T>): void {
    const before = this.#store;
    this.#store = store;
    const { onChange, onFirstList } = this.#handling;
    if (!this.#isListed) onFirstList?.();
    this.#isListed = true;
    if (onChange === undefined) return;
    for (const { namespace, name } of before.all()) if (store.get(namespace, name) === undefined) onChange(namespace, name);
    for (const { namespace, name } of store.all()) onChange(namespace, name);
  }

  /** Takes an object that was created or changed. */
  changed(object: unknown): void {
    const stored = this.#put(this.#store, object);
    if (stored?.isNew === true) this.#handling.onNew?.(stored.object);
    this.#notify(object);
  }

  /** Forgets an object that was removed. */
  removed(object: unknown): void {
    this.#remove(this.#store, object);
    this.#notify(object);
  }

  /** Forgets all objects, and tells nobody. */
  clear(): void {
    this.#store = new ObjectStore(this.#handling.bounds);
  }

  #notify(object: unknown): void {
    const { onChange } = this.#handling;
    const key = onChange === undefined ? undefined : keyOf(object);
    if (key !== undefined) onChange?.(key.namespace, key.name);
  }

  #put(store: ObjectStore<T>, object: unknown): { readonly object: StoredObject<T>; readonly isNew: boolean } | undefined {
    const stored = this.#handling.read(object);
    if (stored === undefined) {
      this.#remove(store, object);
      return undefined;
    }
    const isNew = store.get(stored.namespace, stored.name) === undefined;
    store.put(stored);
    return { object: stored, isNew };
  }

  #remove(store: ObjectStore<T>, object: unknown): void {
    const key = keyOf(object);
    if (key !== undefined) store.remove(key.namespace, key.name);
  }
}

/** An object's namespace and name; the namespace of a cluster-scoped object is empty. */
function keyOf(object: unknown): { readonly namespace: string; readonly name: string } | undefined {
  const metadata = isJsonObject(object) ? object["metadata"] : undefined;
  const { namespace = "", name } = isJsonObject(metadata) ? metadata : {};
  return typeof namespace === "string" && typeof name === "string" ? { namespace, name } : undefined;
}
