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

/** The plan, and the core modules that its numbers refer to. Refuses a component that cannot be linked. */
export function makePlan(
  abi: AbiVersion,
  instantiations: readonly CoreInstantiation[],
  exported: ReadonlyMap<string, FunctionItem & { readonly from: "lift" }>,
): { readonly plan: Omit<LinkPlan, "memories">; readonly modules: readonly CoreModule[] } {
  boundTotals(instantiations);
  const { omitted, resolve } = resolveShims(instantiations);
  const kept = instantiations.filter((_, number) => !omitted.has(number));
  const modules = [...new Set(kept.map(({ module }) => module))];
  const numbers = new Map<number, number>();
  for (const number of instantiations.keys()) if (!omitted.has(number)) numbers.set(number, numbers.size);

  const itemOf = (item: CoreItem | undefined, what: string, at: number): PlanItem => {
    const found = item === undefined ? undefined : resolve(item);
    if (found?.from !== "instance") return refuse(`${what} is not exported by a core module`, at);
    return { instance: numbers.get(found.instance) ?? refuse(`${what} belongs to a shim module`, at), name: found.name };
  };
  const through = (
    options: { memory: CoreItem | undefined; realloc: CoreItem | undefined },
    what: string,
    at: number,
  ): PlanMemory => {
    const { memory, realloc } = options;
    if (realloc === undefined || memory === undefined) refuse(`${what} lacks its memory or its realloc`, at);
    if (memory.from !== "instance" || memory.kind !== "memory") refuse(`${what}: its memory is not a memory`, at);
    requireSignature(realloc, reallocSignature, `${what}: its realloc`, at);
    return { memory: itemOf(memory, `${what}: its memory`, at), realloc: itemOf(realloc, `${what}: its realloc`, at) };
  };

  const sourceOf = (imported: CoreItem, type: string | undefined, what: string, at: number): PlanSource => {
    const item = resolve(imported);
    if (item.from === "inert") return inertSource(item, type);
    if (item.from === "instance") {
      if (type !== undefined) requireSignature(item, type, what, at);
      return { kind: "item", item: itemOf(item, what, at) };
    }
    const { func } = item;
    if (func.from !== "host")
      return refuse(`${what}: a function of the component itself, lowered again: composition is not supported`, at);
    const [, name = ""] = /\/([^@]+)@/.exec(func.interface) ?? [];
    const glue = abi.imports[name]?.[func.name] ?? refuse(`${what}: "${func.name}" of "${func.interface}" has no glue`, at);
    if (type !== glue.core) refuse(`${what} has the core type ${type ?? "none"}; the ABI has ${glue.core}`, at);
    return { kind: "capability", interface: name, name: func.name, through: lowered(item, what, at, glue.lower === undefined) };
  };
  // A function without a result needs no realloc, so the memory's module need not export one.
  const lowered = (item: CoreItem & { from: "lower" }, what: string, at: number, readsOnly: boolean): PlanMemory => {
    if (!readsOnly || item.realloc !== undefined) return through(item, what, at);
    const memory = itemOf(item.memory, `${what}: its memory`, at);
    return { memory, realloc: memory };
  };

  const inertSource = ({ name, memory }: CoreItem & { from: "inert" }, type: string | undefined): PlanSource => {
    if (name === resourceDrop && type === "i32>") return { kind: "drop" };
    const core = streamFunction(name, type)?.core;
    const hasMemory = memory?.from === "instance" && memory.kind === "memory" && numbers.has(memory.instance);
    if (core === undefined || (!hasMemory && core !== ">i32")) return { kind: "inert", name };
    const used = hasMemory ? itemOf(memory, name, 0) : undefined;
    return { kind: "stream", name, core, through: used === undefined ? undefined : { memory: used, realloc: used } };
  };

  const instances = kept.map(({ module, imports }) => ({
    module: modules.indexOf(module),
    imports: imports.map((wanted, index): PlanImport => {
      const declared = module.imports[index];
      const what = `core import "${wanted.module}" "${wanted.name}"`;
      const type = declared?.type === undefined ? undefined : signature(declared.type);
      return { module: wanted.module, name: wanted.name, source: sourceOf(wanted.item, type, what, declared?.at ?? 0) };
    }),
  }));

  const verbs: Record<string, PlanVerb> = {};
  for (const [name, func] of exported) {
    const what = `the exported function "${name}"`;
    const glue = abi.verbs[name] ?? refuse(`${what} has no glue`, func.at);
    requireSignature(func.core, glue.core, what, func.at);
    if (func.postReturn !== undefined) requireSignature(func.postReturn, "i32>", `the post-return of "${name}"`, func.at);
    verbs[name] = {
      func: itemOf(func.core, what, func.at),
      postReturn: func.postReturn === undefined ? undefined : itemOf(func.postReturn, `the post-return of "${name}"`, func.at),
      through: through(func, what, func.at),
    };
  }
  const used = new Set(
    instances.flatMap(({ imports }) => imports.flatMap(({ source }) => (source.kind === "capability" ? [source.interface] : []))),
  );
  return {
    plan: { abi: abi.version, instances, verbs, capabilities: capabilitiesOf(abi).filter((name) => used.has(name)) },
    modules,
  };
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
