// The canonical ABI's view of types: size, alignment, offsets and flat core types.
// Component model, design/mvp/CanonicalABI.md, "Alignment", "Element Size" and "Flattening".

import type { Primitive, TypeRef, WitFunction, WitModel } from "../model.ts";
import { casesOf, shapeOf, targetOf, type Shape } from "./shapes.ts";

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

const align = (at: number, to: number): number => Math.ceil(at / to) * to;

/** The core form of a function ("flatten_functype"). */
export interface Signature {
  /** The flat parameters, even where they are passed in memory. */
  readonly params: readonly Core[];
  /** The parameters are passed in memory: more than {@link maxFlatParams}. */
  readonly spilled: boolean;
  /** The result is passed in memory: more than {@link maxFlatResults}. */
  readonly byArea: boolean;
  /** A result that is passed as a core value. */
  readonly direct: Core | undefined;
}

/** Computes the layout of one model's types. */
export class Layout {
  readonly model: WitModel;

  constructor(model: WitModel) {
    this.model = model;
  }

  signature({ params, result }: WitFunction): Signature {
    const flat = params.flatMap(([, type]) => this.flatten(type));
    const flatResult = result === null ? [] : this.flatten(result);
    const byArea = flatResult.length > maxFlatResults;
    return { params: flat, spilled: flat.length > maxFlatParams, byArea, direct: byArea ? undefined : flatResult[0] };
  }

  /** Divides the flat values of a sequence of types among the types. */
  divide<T>(types: readonly TypeRef[], flat: readonly T[]): readonly (readonly [type: TypeRef, flat: readonly T[]])[] {
    let next = 0;
    return types.map((type) => {
      const start = next;
      next += this.flatten(type).length;
      return [type, flat.slice(start, next)] as const;
    });
  }

  /** Size of a discriminant, in bytes. */
  discriminant(cases: number): 1 | 2 | 4 {
    return cases <= 0x100 ? 1 : cases <= 0x1_0000 ? 2 : 4;
  }

  /** The type behind aliases. */
  target(type: TypeRef): TypeRef {
    return targetOf(this.model, type);
  }

  /** The type with its names resolved. */
  shape(type: TypeRef): Shape {
    return shapeOf(this.model, type);
  }

  alignment(type: TypeRef): number {
    const shape = this.shape(type);
    const cases = casesOf(shape);
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
    const cases = casesOf(shape);
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
    const cases = casesOf(this.shape(type)) ?? [];
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
    const cases = casesOf(shape);
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
