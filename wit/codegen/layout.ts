// The canonical ABI's view of types: size, alignment, offsets and flat core types.
// Component model, design/mvp/CanonicalABI.md, "Alignment", "Element Size" and "Flattening".

import type { Primitive, TypeDef, TypeRef, WitModel } from "../model.ts";

/** The value types of a core module. */
export type Core = "i32" | "i64" | "f32" | "f64";

/** More flat parameters are passed in memory, by one pointer. */
export const maxFlatParams = 16;
/** More flat results are passed in memory, by one pointer. */
export const maxFlatResults = 1;

const sizes: Readonly<Record<Exclude<Primitive, "string">, 1 | 2 | 4 | 8>> = {
  bool: 1,
  u8: 1,
  s8: 1,
  u16: 2,
  s16: 2,
  u32: 4,
  s32: 4,
  f32: 4,
  char: 4,
  u64: 8,
  s64: 8,
  f64: 8,
};

/** A type with all names resolved, down to types with a layout. Named types keep their name. */
export type Shape =
  | { readonly kind: "primitive"; readonly primitive: Exclude<Primitive, "string"> }
  | { readonly kind: "string" }
  | { readonly kind: "list"; readonly element: TypeRef }
  | { readonly kind: "record"; readonly name: string; readonly fields: readonly (readonly [string, TypeRef])[] }
  | { readonly kind: "tuple"; readonly items: readonly TypeRef[] }
  | { readonly kind: "enum"; readonly name: string; readonly cases: readonly string[] }
  | { readonly kind: "flags"; readonly name: string; readonly flags: readonly string[] }
  | { readonly kind: "variant"; readonly name: string; readonly cases: readonly (readonly [string, TypeRef | null])[] }
  | { readonly kind: "option"; readonly inner: TypeRef }
  | { readonly kind: "result"; readonly ok: TypeRef | null; readonly err: TypeRef | null };

const align = (at: number, to: number): number => Math.ceil(at / to) * to;

/** Computes the layout of one model's types. */
export class Layout {
  readonly #model: WitModel;

  constructor(model: WitModel) {
    this.#model = model;
  }

  /** The definition of `interface.type`. */
  definition(ref: string): TypeDef {
    const dot = ref.lastIndexOf(".");
    const def = this.#model.interfaces[ref.slice(0, dot)]?.types[ref.slice(dot + 1)];
    if (def === undefined) throw new Error(`the model has no type ${ref}`);
    return def;
  }

  /** Follows aliases. */
  target(type: TypeRef): TypeRef {
    if (typeof type === "string" || !("ref" in type)) return type;
    const def = this.definition(type.ref);
    return "alias" in def ? this.target(def.alias) : type;
  }

  shape(type: TypeRef): Shape {
    const target = this.target(type);
    if (target === "string") return { kind: "string" };
    if (typeof target === "string") return { kind: "primitive", primitive: target };
    if ("list" in target) return { kind: "list", element: target.list };
    if ("option" in target) return { kind: "option", inner: target.option };
    if ("tuple" in target) return { kind: "tuple", items: target.tuple };
    if ("result" in target) return { kind: "result", ...target.result };
    const name = target.ref;
    const def = this.definition(name);
    if ("record" in def) return { kind: "record", name, fields: def.record };
    if ("enum" in def) return { kind: "enum", name, cases: def.enum };
    if ("variant" in def) return { kind: "variant", name, cases: def.variant };
    if ("flags" in def) {
      if (def.flags.length > 32) throw new Error(`flags ${name}: ${def.flags.length}, the ABI has at most 32`);
      return { kind: "flags", name, flags: def.flags };
    }
    throw new Error(`${name} is an alias of an alias that does not end`);
  }

  /** The payloads of a type with cases: variant, option, result, enum. Null: another type. */
  cases(shape: Shape): readonly (TypeRef | null)[] | null {
    switch (shape.kind) {
      case "option":
        return [null, shape.inner];
      case "result":
        return [shape.ok, shape.err];
      case "variant":
        return shape.cases.map(([, payload]) => payload);
      case "enum":
        return shape.cases.map(() => null);
      default:
        return null;
    }
  }

  /** Size of a discriminant, in bytes. */
  discriminant(cases: number): 1 | 2 | 4 {
    return cases <= 0x100 ? 1 : cases <= 0x1_0000 ? 2 : 4;
  }

  alignment(type: TypeRef): number {
    const shape = this.shape(type);
    const cases = this.cases(shape);
    if (cases !== null)
      return Math.max(this.discriminant(cases.length), ...cases.map((c) => (c === null ? 1 : this.alignment(c))));
    switch (shape.kind) {
      case "primitive":
        return sizes[shape.primitive];
      case "flags":
        return flagBytes(shape.flags.length);
      case "record":
        return Math.max(1, ...shape.fields.map(([, t]) => this.alignment(t)));
      case "tuple":
        return Math.max(1, ...shape.items.map((t) => this.alignment(t)));
      default:
        return 4;
    }
  }

  size(type: TypeRef): number {
    const shape = this.shape(type);
    const cases = this.cases(shape);
    if (cases !== null) {
      const largest = Math.max(0, ...cases.map((c) => (c === null ? 0 : this.size(c))));
      return align(this.payloadOffset(type) + largest, this.alignment(type));
    }
    switch (shape.kind) {
      case "primitive":
        return sizes[shape.primitive];
      case "flags":
        return flagBytes(shape.flags.length);
      case "record":
      case "tuple": {
        const items = shape.kind === "record" ? shape.fields.map(([, t]) => t) : shape.items;
        return align(this.offsets(items).end, this.alignment(type));
      }
      default:
        return 8;
    }
  }

  /** Offset of a variant's payload. */
  payloadOffset(type: TypeRef): number {
    const cases = this.cases(this.shape(type)) ?? [];
    const widest = Math.max(1, ...cases.map((c) => (c === null ? 1 : this.alignment(c))));
    return align(this.discriminant(cases.length), widest);
  }

  /** Offsets of a sequence of fields, and the end of the last field. */
  offsets(items: readonly TypeRef[]): { readonly at: readonly number[]; readonly end: number } {
    let end = 0;
    const at = items.map((type) => {
      const start = align(end, this.alignment(type));
      end = start + this.size(type);
      return start;
    });
    return { at, end };
  }

  flatten(type: TypeRef): Core[] {
    const shape = this.shape(type);
    const cases = this.cases(shape);
    if (cases !== null) {
      const joined: Core[] = [];
      for (const payload of cases) {
        for (const [i, core] of (payload === null ? [] : this.flatten(payload)).entries()) {
          const before = joined[i];
          joined[i] = before === undefined ? core : join(before, core);
        }
      }
      return ["i32", ...joined];
    }
    switch (shape.kind) {
      case "primitive":
        if (shape.primitive === "f32" || shape.primitive === "f64") return [shape.primitive];
        return [sizes[shape.primitive] === 8 ? "i64" : "i32"];
      case "record":
        return shape.fields.flatMap(([, t]) => this.flatten(t));
      case "tuple":
        return shape.items.flatMap((t) => this.flatten(t));
      case "flags":
        return ["i32"];
      default:
        return ["i32", "i32"];
    }
  }
}

/** Size of `count` flags, in bytes. */
export function flagBytes(count: number): 1 | 2 | 4 {
  return count <= 8 ? 1 : count <= 16 ? 2 : 4;
}

function join(a: Core, b: Core): Core {
  if (a === b) return a;
  return (a === "i32" && b === "f32") || (a === "f32" && b === "i32") ? "i32" : "i64";
}
