// Makes the link plan of an evaluated component. Every link is checked for its kind and core signature.

import { capabilitiesOf, type AbiVersion } from "../abi/versions.ts";
import type { CoreModule } from "../binary/core-module.ts";
import { signature } from "../binary/core-types.ts";
import { refuse } from "../../../wit/binary/refusal.ts";
import type { LinkPlan, PlanImport, PlanItem, PlanMemory, PlanSource, PlanVerb } from "../linker/plan.ts";
import { streamFunction } from "../linker/standard-streams.ts";
import type { CoreInstantiation } from "./core-scope.ts";
import { resourceDrop } from "./evaluate.ts";
import type { CoreItem, FunctionItem } from "./items.ts";
import { resolveShims } from "./resolve-shims.ts";

const maxTables = 2;
const reallocSignature = "i32,i32,i32,i32>i32";

type LiftedFunction = FunctionItem & { readonly from: "lift" };
type LoweredFunction = CoreItem & { readonly from: "lower" };
type InertFunction = CoreItem & { readonly from: "inert" };

/** The plan, and the core modules that its numbers refer to. Refuses a component that cannot be linked. */
export function makePlan(
  abi: AbiVersion,
  instantiations: readonly CoreInstantiation[],
  exported: ReadonlyMap<string, LiftedFunction>,
): { readonly plan: Omit<LinkPlan, "memories">; readonly modules: readonly CoreModule[] } {
  boundTotals(instantiations);
  const { omitted, resolve } = resolveShims(instantiations);
  const kept = instantiations.filter((_, number) => !omitted.has(number));
  const modules = [...new Set(kept.map(({ module }) => module))];
  const numbers = new Map<number, number>();
  for (const number of instantiations.keys()) if (!omitted.has(number)) numbers.set(number, numbers.size);
  const links = new Links(abi, numbers, resolve);
  const instances = kept.map(({ module, imports }) => ({
    module: modules.indexOf(module),
    imports: imports.map((wanted, index): PlanImport => {
      const declared = module.imports[index];
      const what = `core import "${wanted.module}" "${wanted.name}"`;
      const type = declared?.type === undefined ? undefined : signature(declared.type);
      return { module: wanted.module, name: wanted.name, source: links.source(wanted.item, type, what, declared?.at ?? 0) };
    }),
  }));
  const verbs: Record<string, PlanVerb> = {};
  for (const [name, func] of exported) verbs[name] = links.verb(name, func);
  const used = new Set(
    instances.flatMap(({ imports }) => imports.flatMap(({ source }) => (source.kind === "capability" ? [source.interface] : []))),
  );
  return {
    plan: { abi: abi.version, instances, verbs, capabilities: capabilitiesOf(abi).filter((name) => used.has(name)) },
    modules,
  };
}

/** Makes the links of one component, and checks each for its kind and core signature. `what` names a link in refusals; `at`: its byte offset. */
class Links {
  readonly #abi: AbiVersion;
  /** The plan's number of each core instance that it keeps. */
  readonly #numbers: ReadonlyMap<number, number>;
  readonly #resolve: (item: CoreItem) => CoreItem;

  constructor(abi: AbiVersion, numbers: ReadonlyMap<number, number>, resolve: (item: CoreItem) => CoreItem) {
    this.#abi = abi;
    this.#numbers = numbers;
    this.#resolve = resolve;
  }

  /** The source of an import with this core type. */
  source(imported: CoreItem, type: string | undefined, what: string, at: number): PlanSource {
    const item = this.#resolve(imported);
    if (item.from === "inert") return this.#inertSource(item, type);
    if (item.from === "instance") {
      if (type !== undefined) requireSignature(item, type, what, at);
      return { kind: "item", item: this.#item(item, what, at) };
    }
    const { func } = item;
    if (func.from !== "host")
      return refuse(`${what}: a function of the component itself, lowered again: composition is not supported`, at);
    const [, name = ""] = /\/([^@]+)@/.exec(func.interface) ?? [];
    const glue = this.#abi.imports[name]?.[func.name] ?? refuse(`${what}: "${func.name}" of "${func.interface}" has no glue`, at);
    if (type !== glue.core) refuse(`${what} has the core type ${type ?? "none"}; the ABI has ${glue.core}`, at);
    const through = this.#lowered(item, what, at, glue.lower === undefined);
    return { kind: "capability", interface: name, name: func.name, through };
  }

  /** The link of an exported function. */
  verb(name: string, func: LiftedFunction): PlanVerb {
    const what = `the exported function "${name}"`;
    const postReturn = `the post-return of "${name}"`;
    const glue = this.#abi.verbs[name] ?? refuse(`${what} has no glue`, func.at);
    requireSignature(func.core, glue.core, what, func.at);
    if (func.postReturn !== undefined) requireSignature(func.postReturn, "i32>", postReturn, func.at);
    return {
      func: this.#item(func.core, what, func.at),
      postReturn: func.postReturn === undefined ? undefined : this.#item(func.postReturn, postReturn, func.at),
      through: this.#memory(func, what, func.at),
    };
  }

  #item(item: CoreItem | undefined, what: string, at: number): PlanItem {
    const found = item === undefined ? undefined : this.#resolve(item);
    if (found?.from !== "instance") return refuse(`${what} is not exported by a core module`, at);
    return { instance: this.#numbers.get(found.instance) ?? refuse(`${what} belongs to a shim module`, at), name: found.name };
  }

  #memory({ memory, realloc }: Pick<LoweredFunction, "memory" | "realloc">, what: string, at: number): PlanMemory {
    if (realloc === undefined || memory === undefined) return refuse(`${what} lacks its memory or its realloc`, at);
    if (memory.from !== "instance" || memory.kind !== "memory") return refuse(`${what}: its memory is not a memory`, at);
    requireSignature(realloc, reallocSignature, `${what}: its realloc`, at);
    return { memory: this.#item(memory, `${what}: its memory`, at), realloc: this.#item(realloc, `${what}: its realloc`, at) };
  }

  /** A function without a result needs no realloc, so the memory's module need not export one. */
  #lowered(item: LoweredFunction, what: string, at: number, readsOnly: boolean): PlanMemory {
    if (!readsOnly || item.realloc !== undefined) return this.#memory(item, what, at);
    const memory = this.#item(item.memory, `${what}: its memory`, at);
    return { memory, realloc: memory };
  }

  #inertSource({ name, memory }: InertFunction, type: string | undefined): PlanSource {
    if (name === resourceDrop && type === "i32>") return { kind: "drop" };
    const core = streamFunction(name, type)?.core;
    const hasMemory = memory?.from === "instance" && memory.kind === "memory" && this.#numbers.has(memory.instance);
    if (core === undefined || (!hasMemory && core !== ">i32")) return { kind: "inert", name };
    const used = hasMemory ? this.#item(memory, name, 0) : undefined;
    return { kind: "stream", name, core, through: used === undefined ? undefined : { memory: used, realloc: used } };
  }
}

function boundTotals(instantiations: readonly CoreInstantiation[]): void {
  const sum = (count: (module: CoreModule) => number) => instantiations.reduce((total, { module }) => total + count(module), 0);
  const at = instantiations.at(-1)?.at;
  const memories = sum(({ memories: defined }) => defined.length);
  if (memories > 1) refuse(`${memories} memories in one component (at most 1)`, at);
  const tables = sum(({ tables: defined }) => defined.length);
  if (tables > maxTables) refuse(`${tables} tables in one component (at most ${maxTables})`, at);
}

function requireSignature(item: CoreItem, wanted: string, what: string, at: number): void {
  const found = item.from === "instance" && item.type !== undefined ? signature(item.type) : undefined;
  if (item.from === "instance" && found !== wanted)
    refuse(`${what} has the core type ${found ?? "none"}; it must be ${wanted}`, at);
}
