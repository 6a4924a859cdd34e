// The types of core WebAssembly that a delegate may use: functions over numbers, funcref tables, 32-bit memories.

import type { Reader } from "../../../wit/binary/reader.ts";
import { refuse } from "../../../wit/binary/refusal.ts";

/** A value type that a delegate may use. */
export type CoreValueType = "i32" | "i64" | "f32" | "f64" | "v128" | "funcref";

/** The type of a core function. */
export interface CoreFunctionType {
  readonly params: readonly CoreValueType[];
  readonly results: readonly CoreValueType[];
}

/** Limits of a table (elements) or memory (pages of 64 KiB). */
export interface CoreLimits {
  readonly min: number;
  readonly max: number | undefined;
}

const valueTypes: Readonly<Record<number, CoreValueType>> = {
  0x7f: "i32",
  0x7e: "i64",
  0x7d: "f32",
  0x7c: "f64",
  0x7b: "v128",
  0x70: "funcref",
};

const refusedTypes: Readonly<Record<number, string>> = {
  0x6f: "externref",
  0x69: "exnref",
  0x6e: "the GC type anyref",
  0x6d: "the GC type eqref",
  0x6c: "the GC type i31ref",
  0x6b: "the GC type structref",
  0x6a: "the GC type arrayref",
  0x64: "a typed reference",
  0x63: "a typed reference",
  0x68: "a continuation reference",
};

const refusedForms: Readonly<Record<number, string>> = {
  0x5f: "a GC struct type",
  0x5e: "a GC array type",
  0x5d: "a continuation type",
  0x50: "a GC subtype",
  0x4f: "a GC final subtype",
  0x4e: "a GC recursion group",
  0x65: "a shared type",
};

/** Whether `byte` encodes a value type that a delegate may use. */
export function isValueType(byte: number): boolean {
  return Object.hasOwn(valueTypes, byte);
}

/** Reads a value type. Refuses references other than funcref, with the type's name. */
export function readValueType(reader: Reader): CoreValueType {
  const at = reader.pos;
  const byte = reader.byte("a value type");
  const type = valueTypes[byte];
  return type ?? refuse(`${refusedTypes[byte] ?? `value type 0x${byte.toString(16)}`} is not allowed in a delegate`, at);
}

/** Reads an entry of the type section: function types only. */
export function readFunctionType(reader: Reader): CoreFunctionType {
  const at = reader.pos;
  const form = reader.byte("a type");
  if (form !== 0x60) refuse(`${refusedForms[form] ?? `type form 0x${form.toString(16)}`} is not allowed in a delegate`, at);
  const params: CoreValueType[] = [];
  for (let left = reader.count("parameters", 1000); left > 0; left -= 1) params.push(readValueType(reader));
  const results: CoreValueType[] = [];
  for (let left = reader.count("results", 1000); left > 0; left -= 1) results.push(readValueType(reader));
  return { params, results };
}

/** Reads limits. Refuses 64-bit and shared ones, and custom page sizes. */
export function readLimits(reader: Reader, what: string): CoreLimits {
  const at = reader.pos;
  const flags = reader.byte(`limits of ${what}`);
  if ((flags & 0x02) !== 0) refuse(`a shared ${what} is not allowed in a delegate`, at);
  if ((flags & 0x04) !== 0) refuse(`a 64-bit ${what} is not allowed in a delegate`, at);
  if ((flags & 0x08) !== 0) refuse(`a ${what} with a custom page size is not allowed in a delegate`, at);
  if (flags > 0x01) refuse(`limits of a ${what} with flags 0x${flags.toString(16)}`, at);
  const min = reader.u32(`the minimum of ${what}`);
  const max = flags === 0x01 ? reader.u32(`the maximum of ${what}`) : undefined;
  if (max !== undefined && max < min) refuse(`a ${what} whose maximum ${max} is below its minimum ${min}`, at);
  return { min, max };
}

/** Reads a table type: funcref only. */
export function readTableType(reader: Reader): CoreLimits {
  const at = reader.pos;
  const element = reader.byte("a table type");
  if (element !== 0x70)
    refuse(`a table of ${refusedTypes[element] ?? `type 0x${element.toString(16)}`} is not allowed in a delegate`, at);
  return readLimits(reader, "table");
}

/** Signatures by type: thousands of imports may have one type with a thousand parameters. */
const signatures = new WeakMap<CoreFunctionType, string>();

/** A function type as text, for example "i32,i32>i32". Equal types have equal texts. */
export function signature(type: CoreFunctionType): string {
  const known = signatures.get(type);
  if (known !== undefined) return known;
  const text = `${type.params.join(",")}>${type.results.join(",")}`;
  signatures.set(type, text);
  return text;
}
