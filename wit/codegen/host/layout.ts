// Calculates sizes, alignments and flattened forms of the canonical ABI (component model, CanonicalABI.md) from the WIT model.

import type { TypeDef, TypeRef, WitModel } from "../../model.ts";

/** The layout of a type; sizes in bytes. */
export interface Layout {
  readonly size: number;
  readonly align: number;
  /** The core types of the flattened form. Other core types than i32 are not supported. */
  readonly flat: readonly "i32"[];
}

/** Maximum of core parameters that are passed flat (MAX_FLAT_PARAMS); a longer list is passed through memory. */
export const maxFlatParameters = 16;

const scalars: Readonly<Record<string, number>> = { bool: 1, u8: 1, s8: 1, u16: 2, s16: 2, u32: 4, s32: 4, char: 4 };

/** Rounds `at` up to a multiple of `align`. */
function alignTo(at: number, align: number): number {
  return Math.ceil(at / align) * align;
}

/** The definition of a named type, which may be an alias. Throws if the model has no such type. */
export function definitionOf(model: WitModel, reference: string): TypeDef {
  const dot = reference.lastIndexOf(".");
  const definition = model.interfaces[reference.slice(0, dot)]?.types[reference.slice(dot + 1)];
  if (definition === undefined) throw new Error(`the WIT model has no type ${reference}`);
  return definition;
}

/** Size in bytes of the discriminant of a variant with `cases` cases. */
export function discriminantSize(cases: number): 1 | 2 | 4 {
  return cases <= 256 ? 1 : cases <= 65_536 ? 2 : 4;
}

/** Layout of a use of a type. Throws for an unsupported type. */
export function layoutOf(model: WitModel, use: TypeRef): Layout {
  if (typeof use === "string") {
    if (use === "string") return { size: 8, align: 4, flat: ["i32", "i32"] };
    const size = scalars[use];
    if (size === undefined) throw new Error(`${use} is not supported by the sandbox's glue yet`);
    return { size, align: size, flat: ["i32"] };
  }
  if ("list" in use) return { size: 8, align: 4, flat: ["i32", "i32"] };
  if ("option" in use) return variantLayout(model, [null, use.option]);
  if ("result" in use) return variantLayout(model, [use.result.ok, use.result.err]);
  if ("tuple" in use) return recordLayout(model, use.tuple).layout;
  const definition = definitionOf(model, use.ref);
  if ("alias" in definition) return layoutOf(model, definition.alias);
  if ("record" in definition)
    return recordLayout(
      model,
      definition.record.map(([, type]) => type),
    ).layout;
  if ("enum" in definition)
    return variantLayout(
      model,
      definition.enum.map(() => null),
    );
  if ("variant" in definition)
    return variantLayout(
      model,
      definition.variant.map(([, payload]) => payload),
    );
  throw new Error(`${use.ref}: flags are not supported by the sandbox's glue yet`);
}

/** Layout of a record's fields, with the offset of each field. */
export function recordLayout(
  model: WitModel,
  fields: readonly TypeRef[],
): { readonly layout: Layout; readonly offsets: readonly number[] } {
  let size = 0;
  let align = 1;
  const flat: "i32"[] = [];
  const offsets = fields.map((field) => {
    const inner = layoutOf(model, field);
    const offset = alignTo(size, inner.align);
    size = offset + inner.size;
    align = Math.max(align, inner.align);
    flat.push(...inner.flat);
    return offset;
  });
  return { layout: { size: alignTo(size, align), align, flat }, offsets };
}

/** Layout of a variant, with the offset of the payload; `null` is a case without payload. */
export function variantLayout(model: WitModel, cases: readonly (TypeRef | null)[]): Layout & { readonly payload: number } {
  const discriminant = discriminantSize(cases.length);
  const payloads = cases.map((payload) => (payload === null ? { size: 0, align: 1, flat: [] } : layoutOf(model, payload)));
  const payloadAlign = Math.max(1, ...payloads.map(({ align }) => align));
  const payload = alignTo(discriminant, payloadAlign);
  const align = Math.max(discriminant, payloadAlign);
  const size = alignTo(payload + Math.max(0, ...payloads.map((it) => it.size)), align);
  const widest = Math.max(0, ...payloads.map(({ flat }) => flat.length));
  return { size, align, flat: Array.from({ length: widest + 1 }, () => "i32" as const), payload };
}
