// An ABI version's types as shapes, from the WIT model: what a component's own types are compared with.

import type { TypeDef, TypeRef, WitModel } from "../../../wit/model.ts";
import type { FunctionShape, Shape, Shapes } from "./shapes.ts";

export interface InterfaceShapes {
  readonly types: ReadonlyMap<string, Shape>;
  readonly functions: ReadonlyMap<string, FunctionShape>;
}

/** Interns all types of the model. Throws on a reference to a type that the model lacks: a defect of the model. */
export function abiShapes(model: WitModel, shapes: Shapes): ReadonlyMap<string, InterfaceShapes> {
  const definitionOf = (reference: string): TypeDef => {
    const dot = reference.lastIndexOf(".");
    const definition = model.interfaces[reference.slice(0, dot)]?.types[reference.slice(dot + 1)];
    if (definition === undefined) throw new Error(`the WIT model has no type ${reference}`);
    return definition;
  };

  const ofUse = (use: TypeRef): Shape => {
    if (typeof use === "string") return shapes.of(use);
    if ("ref" in use) return ofDefinition(definitionOf(use.ref));
    if ("list" in use) return shapes.of("list", [["", ofUse(use.list)]]);
    if ("option" in use) return shapes.of("option", [["", ofUse(use.option)]]);
    if ("tuple" in use)
      return shapes.of(
        "tuple",
        use.tuple.map((element) => ["", ofUse(element)]),
      );
    return shapes.of("result", [
      ["ok", ofOptional(use.result.ok)],
      ["err", ofOptional(use.result.err)],
    ]);
  };
  const ofOptional = (use: TypeRef | null): Shape | null => (use === null ? null : ofUse(use));

  const ofDefinition = (definition: TypeDef): Shape => {
    if ("alias" in definition) return ofUse(definition.alias);
    if ("record" in definition)
      return shapes.of(
        "record",
        definition.record.map(([name, type]) => [name, ofUse(type)]),
      );
    if ("variant" in definition)
      return shapes.of(
        "variant",
        definition.variant.map(([name, type]) => [name, ofOptional(type)]),
      );
    if ("enum" in definition)
      return shapes.of(
        "enum",
        definition.enum.map((name) => [name, null]),
      );
    return shapes.of(
      "flags",
      definition.flags.map((name) => [name, null]),
    );
  };

  const result = new Map<string, InterfaceShapes>();
  for (const [name, contents] of Object.entries(model.interfaces)) {
    const types = new Map(Object.entries(contents.types).map(([type, definition]) => [type, ofDefinition(definition)]));
    const functions = new Map(
      Object.entries(contents.functions).map(([func, { params, result: answer }]) => [
        func,
        { params: params.map(([param, type]) => [param, ofUse(type)] as const), result: ofOptional(answer) },
      ]),
    );
    result.set(name, { types, functions });
  }
  return result;
}
