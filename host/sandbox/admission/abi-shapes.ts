// Converts the types in the WIT model of one ABI version to shapes (shapes.ts). Admission compares a component's types with these shapes.

import type { TypeDef, TypeRef, WitModel } from "../../../wit/model.ts";
import { definitionOf } from "../../../wit/codegen/shapes.ts";
import type { FunctionShape, Shape, Shapes } from "./shapes.ts";

/** The types and functions of one interface. */
export interface InterfaceShapes {
  readonly types: ReadonlyMap<string, Shape>;
  readonly functions: ReadonlyMap<string, FunctionShape>;
}

/**
 * The shapes of the model's types and functions, by interface. `shapes` gives equal types the same number. Throws on a reference to a
 * type that the model lacks: a defect of the model.
 */
export function abiShapes(model: WitModel, shapes: Shapes): ReadonlyMap<string, InterfaceShapes> {
  // Elements of lists, options and tuples have no name: their label is empty.
  const shapeOf = (use: TypeRef): Shape => {
    if (typeof use === "string") return shapes.of(use);
    if ("ref" in use) return shapeOfDefinition(definitionOf(model, use.ref));
    if ("list" in use) return shapes.of("list", [["", shapeOf(use.list)]]);
    if ("option" in use) return shapes.of("option", [["", shapeOf(use.option)]]);
    if ("tuple" in use)
      return shapes.of(
        "tuple",
        use.tuple.map((element) => ["", shapeOf(element)]),
      );
    return shapes.of("result", [
      ["ok", optionalShapeOf(use.result.ok)],
      ["err", optionalShapeOf(use.result.err)],
    ]);
  };
  const optionalShapeOf = (use: TypeRef | null): Shape | null => (use === null ? null : shapeOf(use));

  const shapeOfDefinition = (definition: TypeDef): Shape => {
    if ("alias" in definition) return shapeOf(definition.alias);
    if ("record" in definition)
      return shapes.of(
        "record",
        definition.record.map(([name, type]) => [name, shapeOf(type)]),
      );
    if ("variant" in definition)
      return shapes.of(
        "variant",
        definition.variant.map(([name, type]) => [name, optionalShapeOf(type)]),
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
    const types = new Map(Object.entries(contents.types).map(([type, definition]) => [type, shapeOfDefinition(definition)]));
    const functions = new Map(
      Object.entries(contents.functions).map(([func, { params, result: answer }]) => [
        func,
        { params: params.map(([param, type]) => [param, shapeOf(type)] as const), result: optionalShapeOf(answer) },
      ]),
    );
    result.set(name, { types, functions });
  }
  return result;
}
