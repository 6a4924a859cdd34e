// The keys of the pools' part in its work queue.

/** The kind of a key's object. */
export type PoolWork = "pool" | "block" | "reservation";

/** The key of an object. The three kinds have no namespace. */
export function keyOf(work: PoolWork, name: string): string {
  return `${work} ${name}`;
}

/** The parts of a key. */
export function partsOf(key: string): { readonly work: PoolWork; readonly name: string } {
  const space = key.indexOf(" ");
  const [work, name] = [key.slice(0, space), key.slice(space + 1)];
  return { work: work === "block" || work === "reservation" ? work : "pool", name };
}
