// The model of a world, from the custom section `component-type` that wit-component puts into a core module. The section has the whole
// typed world as a component type (component model, Binary.md, "Type Definitions").

import type { Declarator, TypeDefinition, ValueUse } from "../binary/component-types.ts";
import { Reader } from "../binary/reader.ts";
import { sections } from "../binary/sections.ts";
import { readWorldType, type WorldDeclarator } from "../binary/world-type.ts";
import type { TypeDef, TypeRef, WitFunction, WitInterface, WitModel } from "../model.ts";

/** The content of a type index. A definition is a record, enum, variant or flags, which gets its name from an export. */
type Entry =
  | { readonly kind: "value"; readonly type: TypeRef }
  | { readonly kind: "definition"; readonly definition: TypeDef }
  | { readonly kind: "func"; readonly func: WitFunction }
  | { readonly kind: "instance"; readonly declarations: readonly Declarator[] };

/** The key of an interface in the model, by its full name: short for the world's own package. */
type KeyOf = (id: string) => string;

const typeSection = 7;

function unsupported(what: string): never {
  throw new Error(`WIT not supported here: ${what}`);
}

/** The type indices of a component type or of an instance type within. */
class Scope {
  readonly types: Entry[] = [];
  readonly outer: Scope | undefined;

  constructor(outer?: Scope) {
    this.outer = outer;
  }

  /** The content of a type index, of this scope or of one outwards. */
  entry(index: number, outwards = 0): Entry {
    if (outwards > 0) return this.outer?.entry(index, outwards - 1) ?? unsupported("an alias beyond the outermost type");
    return this.types[index] ?? unsupported(`type ${index} does not exist`);
  }

  evaluate(definition: TypeDefinition): Entry {
    const named = (fields: readonly (readonly [string, ValueUse])[]) =>
      fields.map(([name, use]) => [name, this.#use(use)] as const);
    switch (definition.kind) {
      case "primitive":
        return { kind: "value", type: definition.name };
      case "record":
        return { kind: "definition", definition: { record: named(definition.fields) } };
      case "variant":
        return {
          kind: "definition",
          definition: { variant: definition.cases.map(([name, use]) => [name, this.#optional(use)] as const) },
        };
      case "enum":
        return { kind: "definition", definition: { enum: definition.labels } };
      case "flags":
        return { kind: "definition", definition: { flags: definition.labels } };
      case "list":
        return { kind: "value", type: { list: this.#use(definition.element) } };
      case "option":
        return { kind: "value", type: { option: this.#use(definition.element) } };
      case "tuple":
        return { kind: "value", type: { tuple: definition.elements.map((use) => this.#use(use)) } };
      case "result":
        return { kind: "value", type: { result: { ok: this.#optional(definition.ok), err: this.#optional(definition.err) } } };
      case "func":
        return { kind: "func", func: { params: named(definition.params), result: this.#optional(definition.result) } };
      case "instance":
        return definition;
      default:
        return unsupported("a resource");
    }
  }

  #use(use: ValueUse): TypeRef {
    if (typeof use === "string") return use;
    const entry = this.entry(use);
    return entry.kind === "value" ? entry.type : unsupported(`type ${use} is not a value type with a name`);
  }

  #optional(use: ValueUse | null): TypeRef | null {
    return use === null ? null : this.#use(use);
  }
}

function interfaceOf(key: string, declarations: readonly Declarator[], outer: Scope): WitInterface {
  const scope = new Scope(outer);
  const types: Record<string, TypeDef> = {};
  const functions: Record<string, WitFunction> = {};
  for (const declaration of declarations) {
    if (declaration.kind === "type") scope.types.push(scope.evaluate(declaration.type));
    else if (declaration.kind === "alias") {
      const { alias } = declaration;
      if (alias.kind !== "outer") unsupported("an alias other than of an outer type in an interface");
      else scope.types.push(scope.entry(alias.index, alias.count));
    } else {
      const { name, description } = declaration;
      if (description.kind === "type-resource") return unsupported(`resource ${name}`);
      const entry = scope.entry(description.type);
      if (entry.kind === "func") functions[name] = entry.func;
      else if (entry.kind === "instance") unsupported(`interface ${name} in an interface`);
      else {
        types[name] = entry.kind === "definition" ? entry.definition : { alias: entry.type };
        scope.types.push({ kind: "value", type: isForeign(entry, key) ? entry.type : { ref: `${key}.${name}` } });
      }
    }
  }
  return { types, functions };
}

/** Whether the entry comes from another interface by `use`. Any other exported type belongs to the interface itself. */
function isForeign(entry: Entry, key: string): entry is Entry & { readonly kind: "value" } {
  if (entry.kind !== "value" || typeof entry.type === "string" || !("ref" in entry.type)) return false;
  const { ref } = entry.type;
  return ref.slice(0, ref.lastIndexOf(".")) !== key;
}

function worldOf(
  declarations: readonly WorldDeclarator[],
  keyOf: KeyOf,
): Pick<WitModel, "interfaces"> & { imports: string[]; exports: string[] } {
  const scope = new Scope();
  const instances: string[] = [];
  const world = { interfaces: {} as Record<string, WitInterface>, imports: [] as string[], exports: [] as string[] };
  for (const declaration of declarations) {
    if (declaration.kind === "type") scope.types.push(scope.evaluate(declaration.type));
    else if (declaration.kind === "component") unsupported("a component in a world");
    else if (declaration.kind === "alias") {
      const { alias } = declaration;
      if (alias.kind !== "export") return unsupported("an alias other than of an interface's type in a world");
      const key = instances[alias.instance] ?? unsupported("an alias of an unknown interface");
      if (world.interfaces[key]?.types[alias.name] === undefined) unsupported(`${key} has no type ${alias.name}`);
      scope.types.push({ kind: "value", type: { ref: `${key}.${alias.name}` } });
    } else {
      const { kind, name, description } = declaration;
      if (description.kind === "func") return unsupported(`${name}: a function of the world itself; put it into an interface`);
      if (description.kind !== "instance") return unsupported(`${name}: a type of the world itself; put it into an interface`);
      if (!name.includes("/")) return unsupported(`interface ${name} written inside a world; give it a name of its own`);
      const entry = scope.entry(description.type);
      if (entry.kind !== "instance") return unsupported(`${name} is not an interface`);
      const key = keyOf(name);
      world.interfaces[key] = interfaceOf(key, entry.declarations, scope);
      instances.push(key);
      (kind === "import" ? world.imports : world.exports).push(key);
    }
  }
  return world;
}

const splitId = (id: string): { pkg: string; name: string; version: string } => {
  const found = /^([^/@]+)\/([^@]+)(?:@(.+))?$/.exec(id);
  return { pkg: found?.[1] ?? "", name: found?.[2] ?? id, version: found?.[3] ?? "" };
};

/**
 * Decodes the world in a core module made by componentEmbed (with or without `dummy`). Throws an Error that names WIT features
 * that the model does not support: resources, streams, async, world-level functions.
 */
export function worldModelOf(coreModule: Uint8Array): WitModel {
  const custom = sections(coreModule).find(({ id, name }) => id === 0 && name.startsWith("component-type"));
  if (custom === undefined) return unsupported("a module without a component-type section");
  const type = sections(custom.body).find(({ id }) => id === typeSection);
  if (type === undefined) return unsupported("a component-type section without types");
  const reader = new Reader(type.body);
  if (reader.count("types") !== 1) unsupported("a component-type section of another layout");
  const outer = readWorldType(reader);
  const declared = outer.find((each) => each.kind === "component");
  const exported = outer.find((each) => each.kind === "export");
  if (declared === undefined || exported === undefined) return unsupported("a component-type section without a world");
  const { pkg, name, version } = splitId(exported.name);
  const { interfaces, imports, exports } = worldOf(declared.declarations, (id) => {
    const other = splitId(id);
    return other.pkg === pkg && other.version === version ? other.name : id;
  });
  return { package: pkg, version, interfaces, worlds: { [name]: { imports, exports } } };
}
