// The values of imports' arguments and answers as JSON, and back. JSON has neither absent members, nor 64-bit integers, nor bytes.

import { isJsonObject } from "../json/document.ts";
import { hexadecimal } from "../text/written-forms.ts";

/** The keys of objects that stand for values that JSON lacks. */
const keys = { absent: "$absent", integer: "$integer", bytes: "$bytes" } as const;

/** Deeper values are not encoded. The types of WIT have few levels. */
const maxLevels = 64;

/** The value as JSON. Throws nothing: a value that is neither JSON nor one of the types of WIT becomes a text that names its type. */
export function encodeValue(value: unknown, level = 0): unknown {
  if (value === undefined) return { [keys.absent]: true };
  if (typeof value === "bigint") return { [keys.integer]: String(value) };
  if (value instanceof Uint8Array) return { [keys.bytes]: hexadecimal(value) };
  if (level > maxLevels || typeof value === "function" || typeof value === "symbol") return `(${typeof value})`;
  if (Array.isArray(value)) return value.map((element) => encodeValue(element, level + 1));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, encodeValue(member, level + 1)]));
}

/** The value that `encodeValue` encoded. */
export function decodeValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(decodeValue);
  if (!isJsonObject(value)) return value;
  if (Object.hasOwn(value, keys.absent)) return undefined;
  const { [keys.integer]: integer, [keys.bytes]: bytes } = value;
  if (typeof integer === "string" && /^-?\d{1,20}$/.test(integer)) return BigInt(integer);
  if (typeof bytes === "string" && /^(?:[0-9a-f]{2})*$/.test(bytes)) return bytesOf(bytes);
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, decodeValue(member)]));
}

function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}
