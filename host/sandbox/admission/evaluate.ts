// Evaluates a component symbolically: the order of the core instantiations, their imports, and the component's exports. Two shapes are
// accepted: that of wit-component (main module, shim, fix-up, a types-only component for each exported interface), and that of the QuickJS
// backend (the same, wrapped in components that stub WASI).
//
// A nested component is evaluated when one of its exports is used. WASI instances that one part of a component passes to another are not
// evaluated. Functions that trap replace them, because such stubs only trap; those that print have answers (linker/standard-streams.ts).

import type { AliasDefinition, Sort } from "../binary/component-aliases.ts";
import { readComponent, type Definition, type Use } from "../binary/component.ts";
import type { Reader } from "../binary/reader.ts";
import { refuse } from "../binary/refusal.ts";
import type { WorkBudget } from "../binary/work-budget.ts";
import { CoreInstantiations, CoreScope, type CoreInstantiation } from "./core-scope.ts";
import type { ExternItem, FunctionItem, InstanceItem, TypeExport, TypeItem } from "./items.ts";
import type { Shapes } from "./shapes.ts";
import { equalTypes, TypeScope } from "./type-scope.ts";
import { unique } from "./unique.ts";

/** A custom section of the outermost component. */
export interface CustomSection {
  readonly name: string;
  readonly content: Uint8Array;
  readonly at: number;
}

/** The result of an evaluation. */
export interface Evaluation {
  readonly exports: ReadonlyMap<string, { readonly item: ExternItem; readonly at: number }>;
  readonly customs: readonly CustomSection[];
  readonly instantiations: readonly CoreInstantiation[];
}

/** Checks an imported interface: refuses one that the host does not have, or has with other types. */
export type HostImport = (name: string, exports: ReadonlyMap<string, TypeExport>, at: number) => void;

const inertInterface = /^(wasi:[a-z-]+\/[a-z-]+@\d+\.\d+\.\d+|local:init\/module-loader)$/;
const maxDepth = 4;

/** The name of the function that drops a handle. */
export const resourceDrop = "resource.drop";

/** Evaluates the component that `reader` covers. Refuses more work than `budget` has left. */
export function evaluateComponent(reader: Reader, shapes: Shapes, hostImport: HostImport, budget: WorkBudget): Evaluation {
  const shared: Shared = { shapes, hostImport, budget, core: new CoreInstantiations(budget) };
  const scope = new Scope(shared, undefined, undefined, 0);
  scope.run(reader);
  return { exports: scope.exports, customs: scope.customs, instantiations: shared.core.all };
}

interface Shared {
  readonly shapes: Shapes;
  readonly hostImport: HostImport;
  readonly budget: WorkBudget;
  readonly core: CoreInstantiations;
}

class Scope extends TypeScope {
  readonly exports = new Map<string, { item: ExternItem; at: number }>();
  readonly customs: CustomSection[] = [];
  readonly #shared: Shared;
  readonly #args: ReadonlyMap<string, ExternItem> | undefined;
  readonly #depth: number;
  readonly #core: CoreScope;
  readonly #components: Reader[] = [];
  readonly #instances: InstanceItem[] = [];
  readonly #functions: FunctionItem[] = [];
  readonly #importNames = new Set<string>();

  constructor(shared: Shared, parent: Scope | undefined, args: ReadonlyMap<string, ExternItem> | undefined, depth: number) {
    super(shared.shapes, parent);
    this.#shared = shared;
    this.#args = args;
    this.#depth = depth;
    this.#core = new CoreScope(shared.core);
  }

  run(range: Reader): void {
    for (const definition of readComponent(range, this.#shared.budget)) this.#define(definition);
  }

  #define(it: Definition): void {
    switch (it.kind) {
      case "custom":
        this.customs.push(it);
        return;
      case "core-module":
        this.#core.module(it.range);
        return;
      case "component":
        this.#components.push(it.range);
        return;
      case "core-instantiate":
        this.#core.instantiate(it.module, it.args, it.at);
        return;
      case "core-bundle":
        this.#core.bundle(it.exports, it.at);
        return;
      case "instantiate":
        this.#instances.push(this.#instantiate(it.component, it.args, it.at));
        return;
      case "bundle": {
        const exports = unique(it.exports, it.at, (use) => this.#item(use, it.at));
        this.#instances.push({ host: undefined, export: (name) => exports.get(name) });
        return;
      }
      case "alias":
        this.#alias(it.alias, it.at);
        return;
      case "type":
        this.types.push(this.evaluate(it.type, it.at));
        return;
      case "lift": {
        const options = this.#core.options(it.options, it.at);
        const core = this.#core.function(it.func, it.at);
        this.#functions.push({ from: "lift", type: this.functionAt(it.type, it.at), core, ...options, at: it.at });
        return;
      }
      case "lower": {
        const { memory, realloc } = this.#core.options(it.options, it.at);
        const func = this.#functions[it.func] ?? refuse(`function ${it.func} does not exist`, it.at);
        this.#core.item(
          func.from === "inert" ? { from: "inert", name: func.name, memory } : { from: "lower", func, memory, realloc },
        );
        return;
      }
      case "resource":
        if (this.typeAt(it.type, it.at).kind !== "resource") refuse(`type ${it.type} is not a resource`, it.at);
        if (it.operation !== "drop") refuse(`resource.${it.operation}: delegates define no resources`, it.at);
        this.#core.item({ from: "inert", name: resourceDrop, memory: undefined });
        return;
      case "import":
        this.#import(it);
        return;
      case "export":
        this.#export(it);
    }
  }

  #instantiate(index: number, args: readonly (readonly [string, Use<Sort>])[], at: number): InstanceItem {
    const range = this.#components[index] ?? refuse(`component ${index} does not exist`, at);
    if (this.#depth >= maxDepth) refuse("components nested too deeply", at);
    const resolved = unique(args, at, (use) => this.#item(use, at));
    let inner: Scope | undefined;
    const exported = (name: string): ExternItem | undefined => {
      if (inertInterface.test(name)) return { sort: "instance", instance: { host: undefined, export: () => undefined } };
      if (inner === undefined) {
        inner = new Scope(this.#shared, this, resolved, this.#depth + 1);
        inner.run(range.again());
      }
      return inner.exports.get(name)?.item;
    };
    return { host: undefined, export: exported };
  }

  #alias(alias: AliasDefinition, at: number): void {
    if (alias.kind === "core-export") this.#core.alias(alias.instance, alias.name, alias.sort, at);
    else if (alias.kind === "outer") {
      if (alias.sort !== "type") refuse(`an outer alias of a ${alias.sort} is not part of a delegate`, at);
      this.types.push(this.outer(alias, at));
    } else {
      const source = this.#instances[alias.instance] ?? refuse(`instance ${alias.instance} does not exist`, at);
      const item = source.export(alias.name) ?? refuse(`instance ${alias.instance} exports no "${alias.name}"`, at);
      if (item.sort !== alias.sort) refuse(`"${alias.name}" is not a ${alias.sort}`, at);
      this.#add(item);
    }
  }

  #import(it: Definition & { readonly kind: "import" }): void {
    const { name, at } = it;
    if (this.#importNames.has(name)) refuse(`import "${name}" appears twice`, at);
    this.#importNames.add(name);
    const described = this.describe(it.description, at);
    if (described.sort === "instance") {
      if (described.type.kind !== "instance") refuse(`import "${name}" has a type that is not an instance type`, at);
      const { exports } = described.type;
      this.#shared.budget.spend("importedItems", exports.size, at);
      const inert = this.#isInert(name, at);
      if (!inert) this.#shared.hostImport(name, exports, at);
      this.#add({ sort: "instance", instance: importedInstance(name, exports, inert) });
      return;
    }
    if (this.#args === undefined) refuse(`import "${name}": a delegate imports interfaces only`, at);
    const item = this.#args.get(name) ?? refuse(`nested component's import "${name}" has no argument`, at);
    this.#requireEqual(item, described, name, at);
    this.#add(item);
  }

  // The host provides the imports of the outermost component. A nested component's import is a host interface that is passed on under the
  // same name, or WASI from another part of the component.
  #isInert(name: string, at: number): boolean {
    if (this.#args === undefined) return false;
    const argument = this.#args.get(name);
    if (argument?.sort === "instance" && argument.instance.host === name) return false;
    if (argument?.sort === "instance" && argument.instance.host === undefined && inertInterface.test(name)) return true;
    return refuse(`nested component's import "${name}" is not a host interface: composed components are not supported`, at);
  }

  #export(it: Definition & { readonly kind: "export" }): void {
    const { name, at } = it;
    const item = this.#item(it.use, at);
    if (it.description !== undefined) {
      const described = this.describe(it.description, at);
      if (described.sort === "instance") refuse(`export "${name}": a description of an instance is not supported`, at);
      this.#requireEqual(item, described, name, at);
    }
    if (this.exports.has(name)) refuse(`export "${name}" appears twice`, at);
    this.exports.set(name, { item, at });
    this.#add(item);
  }

  #requireEqual(item: ExternItem, described: TypeExport, name: string, at: number): void {
    const required: TypeItem = described.sort === "func" ? { kind: "func", type: described.type } : described.type;
    const found = typeOf(item);
    const isResource = required.kind === "resource" && found?.kind === "resource";
    if (item.sort !== described.sort || found === undefined || !(isResource || equalTypes(this.shapes, found, required))) {
      refuse(`"${name}" does not have the type of its description`, at);
    }
  }

  #add(item: ExternItem): void {
    if (item.sort === "func") this.#functions.push(item.func);
    else if (item.sort === "type") this.types.push(item.type);
    else this.#instances.push(item.instance);
  }

  #item({ sort, index }: Use<Sort>, at: number): ExternItem {
    const missing = () => refuse(`${sort} ${index} does not exist`, at);
    if (sort === "func") return { sort, func: this.#functions[index] ?? missing() };
    if (sort === "type") return { sort, type: this.typeAt(index, at) };
    if (sort === "instance") return { sort, instance: this.#instances[index] ?? missing() };
    return refuse(`a ${sort} as argument or export is not part of a delegate`, at);
  }
}

function typeOf(item: ExternItem): TypeItem | undefined {
  if (item.sort === "func") return { kind: "func", type: item.func.type };
  return item.sort === "type" ? item.type : undefined;
}

function importedInstance(name: string, exports: ReadonlyMap<string, TypeExport>, inert: boolean): InstanceItem {
  const items = new Map<string, ExternItem>();
  for (const [key, described] of exports) {
    if (described.sort === "type") items.set(key, described);
    else if (inert) items.set(key, { sort: "func", func: { from: "inert", name: `${name}#${key}`, type: described.type } });
    else items.set(key, { sort: "func", func: { from: "host", interface: name, name: key, type: described.type } });
  }
  return { host: inert ? undefined : name, export: (key) => items.get(key) };
}
