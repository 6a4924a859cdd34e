// The core definitions of one component's scope: core modules, their instances, and the instances' exports.

import type { CoreSort } from "../binary/component-aliases.ts";
import type { CanonicalOptions, Use } from "../binary/component.ts";
import { readCoreModule, type CoreKind, type CoreModule } from "../binary/core-module.ts";
import type { Reader } from "../binary/reader.ts";
import { refuse } from "../binary/refusal.ts";
import type { WorkBudget } from "../binary/work-budget.ts";
import type { CoreInstance, CoreItem } from "./items.ts";
import { unique } from "./unique.ts";

/** One instantiation of a core module with resolved imports. */
export interface CoreInstantiation {
  readonly module: CoreModule;
  /** In the order of the module's import section. */
  readonly imports: readonly { readonly module: string; readonly name: string; readonly item: CoreItem }[];
  readonly at: number;
}

/** The core modules and their instances of all scopes of one component. */
export class CoreInstantiations {
  readonly budget: WorkBudget;
  /** In the order of instantiation. */
  readonly all: CoreInstantiation[] = [];
  readonly #outlines = new Map<number, CoreModule>();

  constructor(budget: WorkBudget) {
    this.budget = budget;
  }

  /** The outline of the module in this range. Each module is read once, also if a nested component has many instances. */
  outline(range: Reader): CoreModule {
    const known = this.#outlines.get(range.start);
    if (known !== undefined) return known;
    const outline = readCoreModule(range.again(), this.budget);
    this.#outlines.set(range.start, outline);
    return outline;
  }

  /** Adds an instantiation; answers its number. */
  add(instantiation: CoreInstantiation): number {
    this.budget.spend("coreInstances", 1, instantiation.at);
    return this.all.push(instantiation) - 1;
  }
}

/** Resolves the core indices of one component. */
export class CoreScope {
  readonly #instantiations: CoreInstantiations;
  readonly #modules: Reader[] = [];
  readonly #instances: CoreInstance[] = [];
  readonly #items: Record<CoreKind, CoreItem[]> = { func: [], table: [], memory: [], global: [] };

  constructor(instantiations: CoreInstantiations) {
    this.#instantiations = instantiations;
  }

  module(range: Reader): void {
    this.#modules.push(range);
  }

  item(item: CoreItem): void {
    this.#items[kindOf(item)].push(item);
  }

  bundle(exports: readonly (readonly [string, Use<CoreSort>])[], at: number): void {
    const one = ({ sort, index }: Use<CoreSort>): CoreItem => {
      if (sort === "module" || sort === "instance") return refuse(`a core ${sort} as an export is not part of a delegate`, at);
      return this.#items[sort][index] ?? refuse(`core ${sort} ${index} does not exist`, at);
    };
    this.#instances.push({ kind: "bundle", exports: unique(exports, at, one) });
  }

  instantiate(index: number, args: readonly (readonly [string, number])[], at: number): void {
    const module = this.#instantiations.outline(this.#modules[index] ?? refuse(`core module ${index} does not exist`, at));
    this.#instantiations.budget.spend("coreImports", module.imports.length, at);
    const argumentsByName = unique(args, at, (instance) => this.#instanceAt(instance, at));
    const imports = module.imports.map((wanted) => {
      const what = `core import "${wanted.module}" "${wanted.name}"`;
      const source = argumentsByName.get(wanted.module);
      const item = source === undefined ? undefined : exported(source, wanted.name);
      if (item === undefined) refuse(`${what} has no argument`, wanted.at);
      if (kindOf(item) !== wanted.kind) refuse(`${what} is not a ${wanted.kind}`, wanted.at);
      return { module: wanted.module, name: wanted.name, item };
    });
    const number = this.#instantiations.add({ module, imports, at });
    this.#instances.push({ kind: "instantiated", number, module });
  }

  alias(instance: number, name: string, sort: string, at: number): void {
    const item = exported(this.#instanceAt(instance, at), name) ?? refuse(`core instance ${instance} exports no "${name}"`, at);
    if (sort !== `core ${kindOf(item)}`) refuse(`"${name}" is not a ${sort}`, at);
    this.item(item);
  }

  function(index: number, at: number): CoreItem {
    return this.#items.func[index] ?? refuse(`core function ${index} does not exist`, at);
  }

  options({ memory, realloc, postReturn }: CanonicalOptions, at: number) {
    return {
      memory:
        memory === undefined ? undefined : (this.#items.memory[memory] ?? refuse(`core memory ${memory} does not exist`, at)),
      realloc: realloc === undefined ? undefined : this.function(realloc, at),
      postReturn: postReturn === undefined ? undefined : this.function(postReturn, at),
    };
  }

  #instanceAt(index: number, at: number): CoreInstance {
    return this.#instances[index] ?? refuse(`core instance ${index} does not exist`, at);
  }
}

function kindOf(item: CoreItem): CoreKind {
  return item.from === "instance" ? item.kind : "func";
}

function exported(source: CoreInstance, name: string): CoreItem | undefined {
  if (source.kind === "bundle") return source.exports.get(name);
  const found = source.module.exports.get(name);
  return found === undefined
    ? undefined
    : { from: "instance", instance: source.number, name, kind: found.kind, type: found.type };
}
