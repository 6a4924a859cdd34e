// The tables that this process wrote last into pods' network namespaces, by container. They are forgotten with the container.

/** A table with its network namespace. */
export interface WrittenInto {
  readonly netns: string;
}

/** More containers than a node has; beyond it the oldest tables are forgotten. */
const defaultMaxTables = 2000;

/** Tables of one feature. A table that is not known is written as a whole at its next change. */
export class WrittenTables<T extends WrittenInto> {
  readonly #tables = new Map<string, T>();
  readonly #maxTables: number;

  constructor(maxTables = defaultMaxTables) {
    this.#maxTables = maxTables;
  }

  get size(): number {
    return this.#tables.size;
  }

  /** The table that was written last for a container in this network namespace; undefined if none is known. */
  get(containerId: string, netns: string): T | undefined {
    const written = this.#tables.get(containerId);
    return written?.netns === netns ? written : undefined;
  }

  /** All tables. */
  all(): Iterable<T> {
    return this.#tables.values();
  }

  /** Notes a table; undefined: the state of the kernel's table is unknown. */
  note(containerId: string, written: T | undefined): void {
    this.#tables.delete(containerId);
    if (written === undefined) return;
    this.#tables.set(containerId, written);
    const [oldest] = this.#tables.keys();
    if (this.#tables.size > this.#maxTables && oldest !== undefined) this.#tables.delete(oldest);
  }

  /** Forgets the table of a container that is gone. */
  forget(containerId: string): void {
    this.#tables.delete(containerId);
  }

  /** Forgets the tables of all other containers. */
  keepOnly(containers: ReadonlySet<string>): void {
    for (const containerId of this.#tables.keys()) if (!containers.has(containerId)) this.#tables.delete(containerId);
  }
}
