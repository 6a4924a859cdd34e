// Named arguments and exports as a map.

import { refuse } from "../../../wit/binary/refusal.ts";

/** Maps the entries' values. Refuses a name that appears twice. */
export function unique<T, U>(entries: readonly (readonly [string, T])[], at: number, map: (value: T) => U): Map<string, U> {
  const result = new Map<string, U>();
  for (const [name, value] of entries) {
    if (result.has(name)) refuse(`"${name}" appears twice`, at);
    result.set(name, map(value));
  }
  return result;
}
