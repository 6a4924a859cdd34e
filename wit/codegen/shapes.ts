// The types of a model with their names resolved. Generators, admission and the checks of values read the model through this file.

import type { Primitive, TypeDef, TypeRef, WitModel } from "../model.ts";

/** A type with all names resolved, down to the structure that has a layout. Named types keep their name. */
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

/** The definition of a named type, `interface.type`, which may be an alias. Throws if the model has no such type. */
export function definitionOf(model: WitModel, ref: string): TypeDef {
  const dot = ref.lastIndexOf(".");
  const definition = model.interfaces[ref.slice(0, dot)]?.types[ref.slice(dot + 1)];
  if (definition === undefined) throw new Error(`the WIT model has no type ${ref}`);
  return definition;
}

/** The type behind aliases. */
export function targetOf(model: WitModel, type: TypeRef): TypeRef {
  if (typeof type === "string" || !("ref" in type)) return type;
  const definition = definitionOf(model, type.ref);
  return "alias" in definition ? targetOf(model, definition.alias) : type;
}

/** The structure of a type. Throws for more flags than the ABI has. */
export function shapeOf(model: WitModel, type: TypeRef): Shape {
  const target = targetOf(model, type);
  if (target === "string") return { kind: "string" };
  if (typeof target === "string") return { kind: "primitive", primitive: target };
  if ("list" in target) return { kind: "list", element: target.list };
  if ("option" in target) return { kind: "option", inner: target.option };
  if ("tuple" in target) return { kind: "tuple", items: target.tuple };
  if ("result" in target) return { kind: "result", ...target.result };
  const name = target.ref;
  const definition = definitionOf(model, name);
  if ("record" in definition) return { kind: "record", name, fields: definition.record };
  if ("enum" in definition) return { kind: "enum", name, cases: definition.enum };
  if ("variant" in definition) return { kind: "variant", name, cases: definition.variant };
  if ("flags" in definition) {
    if (definition.flags.length > 32) throw new Error(`flags ${name}: ${definition.flags.length}, the ABI has at most 32`);
    return { kind: "flags", name, flags: definition.flags };
  }
  throw new Error(`${name} is an alias of an alias that does not end`);
}

/** The payloads of a type with cases: variant, option, result, enum. Null: another type. */
export function casesOf(shape: Shape): readonly (TypeRef | null)[] | null {
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

/** The name under which a component imports or exports an interface. */
export function interfaceId(model: WitModel, iface: string): string {
  if (iface.includes("/")) return iface;
  return `${model.package}/${iface}${model.version === "" ? "" : `@${model.version}`}`;
}
