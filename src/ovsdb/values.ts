// The values of OVSDB's columns (RFC 7047 section 5.1). A set of one element may stand as the element itself.

/** An element of a set. */
export type Atom = string | number | boolean | readonly ["uuid", string] | readonly ["named-uuid", string];

/** The name of a row in conditions and mutations. */
export function uuid(id: string): readonly ["uuid", string] {
  return ["uuid", id];
}

/** A set for a condition, a row or a mutation. */
export function set(elements: readonly Atom[]): readonly ["set", readonly Atom[]] {
  return ["set", elements];
}

/** A map of texts. */
export function map(entries: readonly (readonly [string, string])[]): readonly ["map", readonly (readonly [string, string])[]] {
  return ["map", entries];
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The UUID of a value; undefined if the value is none. */
export function readUuid(value: unknown): string | undefined {
  const [tag, id] = Array.isArray(value) ? value : [];
  return tag === "uuid" && typeof id === "string" && uuidPattern.test(id) ? id : undefined;
}

/** The only element of a column that has one at most; undefined for an empty set and for any other value. */
export function readOptional(value: unknown): string | number | undefined {
  const [tag, elements] = Array.isArray(value) ? value : [];
  const element: unknown = tag === "set" && Array.isArray(elements) ? elements[0] : value;
  return typeof element === "string" || typeof element === "number" ? element : undefined;
}

/** A set of integers; undefined for any other value. */
export function readIntegers(value: unknown): readonly number[] | undefined {
  const [tag, elements] = Array.isArray(value) ? value : [];
  const found: unknown = tag === "set" ? elements : [value];
  return Array.isArray(found) && found.every((each) => Number.isInteger(each)) ? found : undefined;
}

/** A map of texts; undefined for any other value. */
export function readTextMap(value: unknown): ReadonlyMap<string, string> | undefined {
  const [tag, entries] = Array.isArray(value) ? value : [];
  if (tag !== "map" || !Array.isArray(entries)) return undefined;
  const texts = new Map<string, string>();
  for (const entry of entries) {
    const [key, text] = Array.isArray(entry) ? entry : [];
    if (typeof key !== "string" || typeof text !== "string") return undefined;
    texts.set(key, text);
  }
  return texts;
}
