// Evaluates the types of a component: resolves indices to structures.

import type { AliasDefinition } from "../binary/component-aliases.ts";
import type { Declarator, ExternDescription, TypeDefinition, ValueUse } from "../binary/component-types.ts";
import { refuse } from "../binary/refusal.ts";
import type { TypeExport, TypeItem } from "./items.ts";
import type { FunctionShape, Shape, Shapes } from "./shapes.ts";

/** The type index space of one component or instance type, nested in that of its parent. */
export class TypeScope {
  readonly types: TypeItem[] = [];
  readonly shapes: Shapes;
  readonly parent: TypeScope | undefined;

  constructor(shapes: Shapes, parent?: TypeScope) {
    this.shapes = shapes;
    this.parent = parent;
  }

  typeAt(index: number, at: number): TypeItem {
    return this.types[index] ?? refuse(`type ${index} does not exist`, at);
  }

  functionAt(index: number, at: number): FunctionShape {
    const type = this.typeAt(index, at);
    return type.kind === "func" ? type.type : refuse(`type ${index} is not a function type`, at);
  }

  /** The type of an `alias outer`: `count` scopes outwards. */
  outer(alias: AliasDefinition & { readonly kind: "outer" }, at: number): TypeItem {
    return (
      this.#outwards(alias.count)?.types[alias.index] ??
      refuse(`type ${alias.index} of the scope ${alias.count} outwards does not exist`, at)
    );
  }

  #outwards(count: number): TypeScope | undefined {
    if (count === 0) return this;
    return count > 16 || this.parent === undefined ? undefined : this.parent.#outwards(count - 1);
  }

  /** Evaluates a type definition; `at` is its byte offset. */
  evaluate(definition: TypeDefinition, at: number): TypeItem {
    const { shapes } = this;
    switch (definition.kind) {
      case "primitive":
        return value(shapes.of(definition.name));
      case "record":
        return value(
          shapes.of(
            "record",
            definition.fields.map(([name, use]) => [name, this.#use(use, at)]),
          ),
        );
      case "variant":
        return value(
          shapes.of(
            "variant",
            definition.cases.map(([name, use]) => [name, this.#optional(use, at)]),
          ),
        );
      case "enum":
      case "flags":
        return value(
          shapes.of(
            definition.kind,
            definition.labels.map((name) => [name, null]),
          ),
        );
      case "list":
      case "option":
        return value(shapes.of(definition.kind, [["", this.#use(definition.element, at)]]));
      case "tuple":
        return value(
          shapes.of(
            "tuple",
            definition.elements.map((use) => ["", this.#use(use, at)]),
          ),
        );
      case "result":
        return value(
          shapes.of("result", [
            ["ok", this.#optional(definition.ok, at)],
            ["err", this.#optional(definition.err, at)],
          ]),
        );
      case "handle": {
        const resource = this.typeAt(definition.resource, at);
        if (resource.kind !== "resource") refuse(`type ${definition.resource} is not a resource`, at);
        return value(shapes.of(definition.form, [["", resource.shape]]));
      }
      case "func": {
        const params = definition.params.map(([name, use]) => [name, this.#use(use, at)] as const);
        return { kind: "func", type: { params, result: this.#optional(definition.result, at) } };
      }
      case "instance":
        return { kind: "instance", exports: new TypeScope(shapes, this).#declared(definition.declarations) };
      case "resource":
        return { kind: "resource", shape: shapes.resource() };
    }
  }

  /** Resolves the description of an import or export. A resource type that the description introduces is a new one. */
  describe(description: ExternDescription, at: number): TypeExport | { readonly sort: "instance"; readonly type: TypeItem } {
    switch (description.kind) {
      case "func":
        return { sort: "func", type: this.functionAt(description.type, at) };
      case "type-eq":
        return { sort: "type", type: this.typeAt(description.type, at) };
      case "type-resource":
        return { sort: "type", type: { kind: "resource", shape: this.shapes.resource() } };
      case "instance":
        return { sort: "instance", type: this.typeAt(description.type, at) };
    }
  }

  #declared(declarations: readonly Declarator[]): ReadonlyMap<string, TypeExport> {
    const exports = new Map<string, TypeExport>();
    for (const declaration of declarations) {
      const { at } = declaration;
      if (declaration.kind === "type") this.types.push(this.evaluate(declaration.type, at));
      else if (declaration.kind === "alias") {
        if (declaration.alias.kind !== "outer" || declaration.alias.sort !== "type")
          refuse("an alias other than of an outer type in an instance type", at);
        this.types.push(this.outer(declaration.alias, at));
      } else {
        const described = this.describe(declaration.description, at);
        if (described.sort === "instance") refuse("an instance exported by an instance type", at);
        if (exports.has(declaration.name)) refuse(`"${declaration.name}" is exported twice`, at);
        if (described.sort === "type") this.types.push(described.type);
        exports.set(declaration.name, described);
      }
    }
    return exports;
  }

  #use(use: ValueUse, at: number): Shape {
    if (typeof use === "string") return this.shapes.of(use);
    const type = this.typeAt(use, at);
    return type.kind === "value" ? type.shape : refuse(`type ${use} is not a value type`, at);
  }

  #optional(use: ValueUse | null, at: number): Shape | null {
    return use === null ? null : this.#use(use, at);
  }
}

function value(shape: Shape): TypeItem {
  return { kind: "value", shape };
}

/** Whether two types have the same structure. Two instance types are never equal here. */
export function equalTypes(shapes: Shapes, one: TypeItem, other: TypeItem): boolean {
  if (one.kind === "func" && other.kind === "func") return shapes.func(one.type) === shapes.func(other.type);
  if (one.kind === "value" || one.kind === "resource") return one.kind === other.kind && one.shape === other.shape;
  return false;
}
