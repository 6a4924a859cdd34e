// Random values of any WIT type, in the form of jco's hosts.

import * as fc from "fast-check";
import type { TypeRef, WitModel } from "../../../wit/model.ts";
import { Layout } from "../../../wit/codegen/layout.ts";
import { camel } from "../../../wit/codegen/names.ts";

/** Any character. fast-check's unit "binary" has the same ones, but first makes a table of all of them, which takes most of a second. */
const anyCharacter = fc
  .integer({ min: 0, max: 0x10_f7ff })
  .map((index) => String.fromCodePoint(index < 0xd800 ? index : index + 0x800));

/** Names that every JavaScript object has. */
const inheritedNames = ["__proto__", "constructor", "hasOwnProperty", "toString", "valueOf"];

/**
 * Text with error-prone content: lone surrogates, non-BMP, NUL, empty. No text begins with U+FEFF: jco's translation drops it as
 * a byte order mark (guest-memory.test.ts shows that guests keep it).
 */
export const anyText: fc.Arbitrary<string> = fc
  .oneof(
    { weight: 4, arbitrary: fc.array(anyCharacter, { maxLength: 12 }).map((characters) => characters.join("")) },
    { weight: 2, arbitrary: fc.array(fc.nat(0xffff), { maxLength: 8 }).map((units) => String.fromCharCode(...units)) },
    {
      weight: 1,
      arbitrary: fc.constantFrom("", "\0", "\ud800", "\udc00\ud800", "a\ud83d", "😀", "\u07ff\u0800\uffff", ...inheritedNames),
    },
  )
  .map((text) => text.replace(/^\ufeff/, "x"));

const between = (min: number, max: number): fc.Arbitrary<number> =>
  fc.oneof(fc.integer({ min, max }), fc.constantFrom(min, max, 0));

const wide = (min: bigint, max: bigint): fc.Arbitrary<bigint> => fc.oneof(fc.bigInt({ min, max }), fc.constantFrom(min, max, 0n));

const primitives = {
  bool: fc.boolean(),
  u8: between(0, 0xff),
  s8: between(-0x80, 0x7f),
  u16: between(0, 0xffff),
  s16: between(-0x8000, 0x7fff),
  u32: between(0, 0xffff_ffff),
  s32: between(-0x8000_0000, 0x7fff_ffff),
  u64: wide(0n, 0xffff_ffff_ffff_ffffn),
  s64: wide(-0x8000_0000_0000_0000n, 0x7fff_ffff_ffff_ffffn),
  f32: fc.float(),
  f64: fc.double(),
  char: fc.oneof(anyCharacter, fc.constantFrom("\0", "\ud7ff", "\ue000", "\u{10ffff}")),
  string: anyText,
} as const;

/** Values of a type. An option within an option, and a result that is not a function's own, are tagged, as in jco. */
export function arbitraryOf(model: WitModel, type: TypeRef): fc.Arbitrary<unknown> {
  const layout = new Layout(model);
  const of = (part: TypeRef): fc.Arbitrary<unknown> => {
    const shape = layout.shape(part);
    switch (shape.kind) {
      case "primitive":
        return primitives[shape.primitive];
      case "string":
        return primitives.string;
      case "list":
        return fc.array(of(shape.element), { maxLength: 6 });
      case "tuple":
        return fc.tuple(...shape.items.map(of));
      case "record":
        return fc.record(Object.fromEntries(shape.fields.map(([name, field]) => [camel(name), of(field)])));
      case "enum":
        return fc.oneof(fc.constantFrom(...shape.cases), fc.constant(shape.cases.at(-1)));
      case "flags":
        return fc.record(Object.fromEntries(shape.flags.map((flag) => [camel(flag), fc.boolean()])));
      case "option": {
        if (!mayBeUndefined(layout, shape.inner)) return fc.oneof(fc.constant(undefined), of(shape.inner));
        return tagged(of, [
          ["none", null],
          ["some", shape.inner],
        ]);
      }
      case "result":
        return tagged(of, [
          ["ok", shape.ok],
          ["err", shape.err],
        ]);
      default:
        return tagged(of, shape.cases);
    }
  };
  return of(type);
}

/** jco shows an option as a value or undefined, unless the value may be undefined itself. */
function mayBeUndefined(layout: Layout, type: TypeRef): boolean {
  const shape = layout.shape(type);
  return shape.kind === "option" && !mayBeUndefined(layout, shape.inner);
}

function tagged(
  of: (type: TypeRef) => fc.Arbitrary<unknown>,
  cases: readonly (readonly [string, TypeRef | null])[],
): fc.Arbitrary<unknown> {
  return fc.oneof(
    ...cases.map(([tag, payload]) => (payload === null ? fc.constant({ tag }) : of(payload).map((val) => ({ tag, val })))),
  );
}

/** A value after it has crossed the boundary: lone surrogates replaced, typed arrays as arrays, NaN as one value, -0 kept. */
export function crossed(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map(crossed);
  if (ArrayBuffer.isView(value) && "length" in value) return Array.from(value as unknown as ArrayLike<unknown>, crossed);
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, crossed(member)]));
  }
  return value;
}
