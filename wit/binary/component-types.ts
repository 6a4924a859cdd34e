// Reads the types of a component's binary. Indices are not resolved here (component model, Binary.md).

import type { Primitive } from "../model.ts";
import { requireExternName, requireLabel } from "./names.ts";
import type { Reader } from "./reader.ts";
import { refuse } from "./refusal.ts";
import { readAlias, type AliasDefinition } from "./component-aliases.ts";

/** A use of a value type: a primitive's name or an index into the types. */
export type ValueUse = Primitive | number;

/** A type definition (`deftype`). */
export type TypeDefinition =
  | { readonly kind: "primitive"; readonly name: Primitive }
  | { readonly kind: "record"; readonly fields: readonly (readonly [string, ValueUse])[] }
  | { readonly kind: "variant"; readonly cases: readonly (readonly [string, ValueUse | null])[] }
  | { readonly kind: "enum" | "flags"; readonly labels: readonly string[] }
  | { readonly kind: "list" | "option"; readonly element: ValueUse }
  | { readonly kind: "tuple"; readonly elements: readonly ValueUse[] }
  | { readonly kind: "result"; readonly ok: ValueUse | null; readonly err: ValueUse | null }
  | { readonly kind: "handle"; readonly form: "own" | "borrow"; readonly resource: number }
  | { readonly kind: "func"; readonly params: readonly (readonly [string, ValueUse])[]; readonly result: ValueUse | null }
  | { readonly kind: "instance"; readonly declarations: readonly Declarator[] }
  | { readonly kind: "resource" };

/** The type of an import or export (`externdesc`). */
export type ExternDescription =
  | { readonly kind: "func" | "instance"; readonly type: number }
  | { readonly kind: "type-eq"; readonly type: number }
  | { readonly kind: "type-resource" };

/** One declaration of an instance type. */
export type Declarator =
  | { readonly kind: "type"; readonly at: number; readonly type: TypeDefinition }
  | { readonly kind: "alias"; readonly at: number; readonly alias: AliasDefinition }
  | { readonly kind: "export"; readonly at: number; readonly name: string; readonly description: ExternDescription };

const primitives: Readonly<Record<number, Primitive>> = {
  0x7f: "bool",
  0x7e: "s8",
  0x7d: "u8",
  0x7c: "s16",
  0x7b: "u16",
  0x7a: "s32",
  0x79: "u32",
  0x78: "s64",
  0x77: "u64",
  0x76: "f32",
  0x75: "f64",
  0x74: "char",
  0x73: "string",
};

const refusedForms: Readonly<Record<number, string>> = {
  0x64: "an error-context",
  0x65: "a future",
  0x66: "a stream",
  0x67: "a list of fixed length",
  0x43: "an async function",
  0x41: "a component type",
};

// Maximum nesting of instance types; wit-component writes one level.
const maxDepth = 4;

/** Reads a vector of at most `max` elements. */
export function many<T>(reader: Reader, what: string, read: () => T, max = 1000): T[] {
  const items: T[] = [];
  for (let left = reader.count(what, max); left > 0; left -= 1) items.push(read());
  return items;
}

function readValueUse(reader: Reader): ValueUse {
  const at = reader.pos;
  const byte = reader.bytes[at] ?? 0;
  if (byte < 0x80 && byte >= 0x40) {
    reader.byte("a type");
    return primitives[byte] ?? refuse(`${refusedForms[byte] ?? `type 0x${byte.toString(16)}`} is not part of a delegate`, at);
  }
  return reader.u32("a type index");
}

function readOptionalUse(reader: Reader): ValueUse | null {
  const at = reader.pos;
  const flag = reader.byte("an optional type");
  if (flag > 1) refuse(`an optional type marked ${flag}`, at);
  return flag === 1 ? readValueUse(reader) : null;
}

/** Reads one type definition (`deftype`). */
export function readTypeDefinition(reader: Reader, depth = 0): TypeDefinition {
  const at = reader.pos;
  const form = reader.byte("a type");
  const field = () => [requireLabel(reader, "a field's name"), readValueUse(reader)] as const;
  switch (form) {
    case 0x72:
      return { kind: "record", fields: many(reader, "fields", field) };
    case 0x71:
      return { kind: "variant", cases: many(reader, "cases", () => readCase(reader)) };
    case 0x70:
      return { kind: "list", element: readValueUse(reader) };
    case 0x6f:
      return { kind: "tuple", elements: many(reader, "elements", () => readValueUse(reader)) };
    case 0x6e:
      return { kind: "flags", labels: many(reader, "flags", () => requireLabel(reader, "a flag's name")) };
    case 0x6d:
      return { kind: "enum", labels: many(reader, "cases", () => requireLabel(reader, "a case's name")) };
    case 0x6b:
      return { kind: "option", element: readValueUse(reader) };
    case 0x6a:
      return { kind: "result", ok: readOptionalUse(reader), err: readOptionalUse(reader) };
    case 0x69:
    case 0x68:
      return { kind: "handle", form: form === 0x69 ? "own" : "borrow", resource: reader.u32("a type index") };
    case 0x40:
      return readFunction(reader);
    case 0x42:
      if (depth >= maxDepth) refuse("instance types nested too deeply", at);
      return { kind: "instance", declarations: many(reader, "declarations", () => readDeclarator(reader, depth + 1), 5000) };
    case 0x3f:
      return readResource(reader);
    default: {
      const name = primitives[form];
      return name === undefined
        ? refuse(`${refusedForms[form] ?? `type form 0x${form.toString(16)}`} is not part of a delegate`, at)
        : { kind: "primitive", name };
    }
  }
}

function readCase(reader: Reader): readonly [string, ValueUse | null] {
  const name = requireLabel(reader, "a case's name");
  const payload = readOptionalUse(reader);
  const at = reader.pos;
  if (reader.byte("a case") !== 0) refuse("a case that refines another", at);
  return [name, payload];
}

function readFunction(reader: Reader): TypeDefinition {
  const params = many(
    reader,
    "parameters",
    () => [requireLabel(reader, "a parameter's name"), readValueUse(reader)] as const,
    100,
  );
  const at = reader.pos;
  const flag = reader.byte("a result");
  if (flag === 0) return { kind: "func", params, result: readValueUse(reader) };
  if (flag !== 1 || reader.byte("a result") !== 0) refuse("a function with named results", at);
  return { kind: "func", params, result: null };
}

function readResource(reader: Reader): TypeDefinition {
  const at = reader.pos;
  if (reader.byte("a resource") !== 0x7f) refuse("a resource whose representation is not i32", at);
  const flag = reader.byte("a resource");
  if (flag > 1) refuse("an async destructor of a resource", at);
  if (flag === 1) reader.u32("a destructor");
  return { kind: "resource" };
}

function readDeclarator(reader: Reader, depth: number): Declarator {
  const at = reader.pos;
  const kind = reader.byte("a declaration");
  switch (kind) {
    case 0x01:
      return { kind: "type", at, type: readTypeDefinition(reader, depth) };
    case 0x02:
      return { kind: "alias", at, alias: readAlias(reader) };
    case 0x04:
      return { kind: "export", at, name: readExternName(reader, "an export's name"), description: readExternDescription(reader) };
    default:
      return refuse(`a declaration of kind ${kind} in an instance type`, at);
  }
}

/** Reads the name of an import or export. Refuses a version suffix and an implementation hint. */
export function readExternName(reader: Reader, what: string): string {
  const at = reader.pos;
  const form = reader.byte(what);
  if (form > 1) refuse(`${what} in the unknown form ${form}`, at);
  return requireExternName(reader, what);
}

/** Reads the type of an import or export (`externdesc`). */
export function readExternDescription(reader: Reader): ExternDescription {
  const at = reader.pos;
  const kind = reader.byte("a description");
  switch (kind) {
    case 0x01:
      return { kind: "func", type: reader.u32("a type index") };
    case 0x03: {
      const bound = reader.byte("a type's bound");
      if (bound > 1) refuse(`a type's bound of kind ${bound}`, at);
      return bound === 0 ? { kind: "type-eq", type: reader.u32("a type index") } : { kind: "type-resource" };
    }
    case 0x05:
      return { kind: "instance", type: reader.u32("a type index") };
    default:
      return refuse(`${{ 0: "a core module", 2: "a value", 4: "a component" }[kind] ?? `kind ${kind}`} as import or export`, at);
  }
}
