// One collection of the API that a part of the controller watches.

import { type ReflectorState, Reflector } from "../cluster/kube/reflector.ts";
import type { StoredObject } from "../cluster/kube/object-store.ts";
import type { PartContext } from "./part.ts";

/** Settings of a watched collection. */
export interface WatchedCollectionInit<T> {
  /** The collection's name in messages and metrics: `podnetworks`. */
  readonly what: string;
  readonly path: string;
  /** Selectors. */
  readonly query?: Readonly<Record<string, string>>;
  /** Whether only metadata are requested, which keeps the controller small beside many pods. */
  readonly metadataOnly?: boolean;
  /** Whether the collection is empty while its CustomResourceDefinition is not there: only where nothing is destroyed for that. */
  readonly absentIsEmpty?: boolean;
  /** The stored part of an object; undefined if it cannot be read. */
  readonly read: (object: unknown) => StoredObject<T> | undefined;
  /** Called after a change, with the object's namespace (empty if it has none) and name. */
  readonly onChange: (namespace: string, name: string) => void;
  /** Maximum size of all stored objects in characters; 64 Mi by default. */
  readonly maxTotal?: number;
}

/** Maximum size of one stored object, in characters: etcd's own limit. */
const maxObject = 1_572_864;

/** A collection in the controller's memory. Decisions that destroy something must read the API again. */
export class WatchedCollection<T> {
  readonly #reflector: Reflector<T>;

  constructor({ objects, log }: PartContext, init: WatchedCollectionInit<T>) {
    const { what, path, query = {}, metadataOnly = false, absentIsEmpty = false } = init;
    const { read, onChange, maxTotal = 64 * 1024 * 1024 } = init;
    this.#reflector = new Reflector<T>({
      what,
      connection: objects.connection,
      credentials: objects.credentials,
      path,
      query,
      metadataOnly,
      consistent: true,
      absentIsEmpty,
      pageSize: 500,
      bounds: { maxObject, maxTotal },
      read,
      onChange,
      whileNotWatched: "the controller knows the last seen objects only",
      warn: (text) => log("warn", text),
    });
  }

  get state(): ReflectorState {
    return this.#reflector.state;
  }

  /** Whether every object was listed and is stored. A part does nothing that depends on an object's absence before. */
  get complete(): boolean {
    return this.#reflector.complete;
  }

  /**
   * Whether every object was listed; those that are too large, or of the namespace that fills the memory, count as absent. For collections that a tenant
   * can fill, and by whose objects nothing is destroyed: other tenants' objects must not wait.
   */
  get listed(): boolean {
    return this.#reflector.listed;
  }

  get(namespace: string, name: string): T | undefined {
    return this.#reflector.lastSeen(namespace, name);
  }

  /** All objects as last seen. */
  all(): Iterable<StoredObject<T>> {
    return this.#reflector.stored();
  }

  /** Lists and watches until `signal` is aborted. */
  start(signal: AbortSignal): void {
    this.#reflector.start();
    signal.addEventListener("abort", () => this.#reflector.stop(), { once: true });
  }
}
