// The key of a namespace's query in the controller's work queue.

/** A query of the policies of a namespace. */
export interface NamespaceQuery {
  readonly namespace: string;
  readonly id: string;
}

/** The key of a query in the work queue. */
export function keyOf({ namespace, id }: NamespaceQuery): string {
  return `${namespace} ${id}`;
}

/** The query of a key. */
export function queryOf(key: string): NamespaceQuery {
  const space = key.indexOf(" ");
  return { namespace: key.slice(0, space), id: key.slice(space + 1) };
}
