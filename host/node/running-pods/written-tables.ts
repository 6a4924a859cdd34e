// The tables that this process wrote last into the network namespaces of pods: a table that has not changed is not written again.

/** The tables of one feature, by container. */
export interface WrittenTables<T> {
  /** The table that was written last for a container in this network namespace; undefined if none is known. */
  readonly writtenTable: (containerId: string, netns: string) => T | undefined;
  /** Notes a table; undefined: the state of the kernel's table is unknown. */
  readonly noteTable: (containerId: string, written: T | undefined) => void;
}

/** More containers than a node has; beyond it the oldest are written as a whole at their next change. */
const maxTables = 2000;

/** Makes the record of one feature. */
export function writtenTables<T extends { readonly netns: string }>(): WrittenTables<T> {
  const tables = new Map<string, T>();
  return {
    writtenTable: (containerId, netns) => {
      const written = tables.get(containerId);
      return written?.netns === netns ? written : undefined;
    },
    noteTable: (containerId, written) => {
      tables.delete(containerId);
      if (written === undefined) return;
      tables.set(containerId, written);
      const [oldest] = tables.keys();
      if (tables.size > maxTables && oldest !== undefined) tables.delete(oldest);
    },
  };
}
