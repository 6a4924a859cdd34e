// jco's form of values: `list<u8>` is a Uint8Array and `u64` a bigint, where Plexus has an array and a number.

/** The value in Plexus' form. */
export function plainValue<T>(value: T): T {
  if (typeof value === "bigint") return Number(value) as T;
  if (typeof value !== "object" || value === null) return value;
  const plain: unknown =
    value instanceof Uint8Array || Array.isArray(value)
      ? [...value].map((each: unknown) => plainValue(each))
      : Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plainValue(each)]));
  return plain as T;
}
