// Named arguments and exports as a map; a name that appears twice is refused.

import { refuse } from "../binary/refusal.ts";

export function unique<T, U>(entries: readonly (readonly [string, T])[], at: number, map: (value: T) => U): Map<string, U> {
  const result = new Map<string, U>();
  for (const [name, value] of entries) {
    if (result.has(name)) refuse(`"${name}" appears twice`, at);
    result.set(name, map(value));
  }
  return result;
}
