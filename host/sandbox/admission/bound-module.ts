// Rewrites a core module so that it stays within the limits: memory and tables get maxima, code gets a meter. Custom sections, from which
// engines read hints and names, are dropped. The memory becomes an import, so that the linker can pass pooled memory. The start function
// becomes an export, so that it is called when the meter runs.

import type { CoreModule, SectionRange } from "../binary/core-module.ts";
import type { CoreLimits } from "../binary/core-types.ts";
import { Reader } from "../../../wit/binary/reader.ts";
import { refuse } from "../../../wit/binary/refusal.ts";
import type { WorkBudget } from "../binary/work-budget.ts";
import { asciiName, joined, leb, section, signedLeb } from "../binary/writer.ts";
import type { ModuleSizes } from "../limits.ts";
import { memoryImport } from "../linker/link.ts";
import { counterExport, meterExport, quantum, startExport } from "../linker/meter.ts";
import type { PlanLinearMemory } from "../linker/plan.ts";
import { meterCallBody, meteredCode } from "./metered-code.ts";

const preamble = Uint8Array.of(0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00);
const ids = { type: 1, import: 2, func: 3, table: 4, memory: 5, global: 6, export: 7, start: 8, code: 10 } as const;
/** Ids of all sections, in the order that a module requires. */
const sectionOrder: readonly number[] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 10, 11];

/** Additions for authors on their own machines. A node uses none of them. */
export interface AuthorAids {
  /** True: the meter's counter is exported, so that a call's report counts the executed code. */
  readonly countsFuel?: boolean;
  /** True: the functions keep their names, which a profile shows. */
  readonly keepsNames?: boolean;
}

/** The limits that rewritten modules contain. */
export interface BoundLimits extends ModuleSizes, AuthorAids {
  /** Instances of the component's core modules in one call. */
  readonly coreInstances?: number;
}

/** A rewritten core module. */
export interface BoundModule {
  readonly bytes: Uint8Array;
  /** The memory that the module imports; undefined for a module without its own memory. */
  readonly memory: PlanLinearMemory | undefined;
}

/**
 * Rewrites a module. Refuses minima above the limits (LIMIT_MEMORY), instructions that a delegate may not use, and more work than `budget` has
 * left.
 */
export function boundModule(module: CoreModule, limits: BoundLimits, budget: WorkBudget): BoundModule {
  const rewritten = new Map<number, Uint8Array>();
  for (const range of module.sections) rewritten.set(range.id, copied(module, range));
  if (module.tables.length > 0) rewritten.set(ids.table, tables(module, limits, []));
  const [defined] = module.memories;
  const memory = defined === undefined ? undefined : boundMemory(module, defined, limits);
  if (memory !== undefined) {
    rewritten.delete(ids.memory);
    rewritten.set(ids.import, extended(module, ids.import, [importOf(memory)]));
  }
  if (module.definedFunctions.length > 0) insertMeter(module, limits, rewritten, budget);
  const parts = sectionOrder.map((id) => rewritten.get(id) ?? new Uint8Array(0));
  // No index changes, so the names still belong to their functions.
  if (limits.keepsNames === true && module.names !== undefined) parts.push(copied(module, module.names));
  return { bytes: joined([preamble, ...parts]), memory };
}

/** Inserts the meter. Its definitions follow the module's own ones, so that no index changes. */
function insertMeter(module: CoreModule, limits: BoundLimits, sections: Map<number, Uint8Array>, budget: WorkBudget): void {
  const { types, func, table, global } = module.counts;
  const indices = { counter: global, meterCall: func };
  const exported = [exportOf(meterExport, 0x01, table)];
  const start = readerOf(module, ids.start)?.u32("the start function");
  if (start !== undefined) exported.push(exportOf(startExport, 0x00, start));
  if (limits.countsFuel === true) exported.push(exportOf(counterExport, 0x03, global));
  sections.delete(ids.start);
  sections.set(ids.type, extended(module, ids.type, [Uint8Array.of(0x60, 0x00, 0x00)]));
  sections.set(ids.func, extended(module, ids.func, [leb(types)]));
  sections.set(ids.table, tables(module, limits, [Uint8Array.of(0x70, 0x01, 0x01, 0x01)]));
  // A mutable i32 with the full quantum.
  const counter = joined([Uint8Array.of(0x7f, 0x01, 0x41), signedLeb(quantum), Uint8Array.of(0x0b)]);
  sections.set(ids.global, extended(module, ids.global, [counter]));
  sections.set(ids.export, extended(module, ids.export, exported));
  const code = readerOf(module, ids.code) ?? refuse("a module with functions and no bodies", module.start);
  const metered = meteredCode(code, indices, module, [meterCallBody(indices, table, types)], budget);
  sections.set(ids.code, section(ids.code, [metered]));
}

function boundMemory(module: CoreModule, { min, max }: CoreLimits, { memoryPages }: BoundLimits): PlanLinearMemory {
  if (module.counts.memory > 1) refuse("a module with an imported and a defined memory", module.start);
  if (min > memoryPages) tooLarge(min, memoryPages, "memory", "pages", module.start);
  return { initial: min, maximum: Math.min(max ?? memoryPages, memoryPages) };
}

function importOf({ initial, maximum }: PlanLinearMemory): Uint8Array {
  const name = asciiName(memoryImport);
  return joined([name, name, Uint8Array.of(0x02, 0x01), leb(initial), leb(maximum)]);
}

function tables(module: CoreModule, limits: BoundLimits, further: readonly Uint8Array[]): Uint8Array {
  const defined = module.tables.map((table) =>
    joined([Uint8Array.of(0x70), boundTable(table, limits.tableEntries, module.start)]),
  );
  return section(ids.table, [leb(defined.length + further.length), ...defined, ...further]);
}

function boundTable({ min, max }: CoreLimits, limit: number, at: number): Uint8Array {
  if (min > limit) tooLarge(min, limit, "table", "entries", at);
  return joined([Uint8Array.of(0x01), leb(min), leb(Math.min(max ?? limit, limit))]);
}

function tooLarge(min: number, limit: number, what: string, unit: string, at: number): never {
  return refuse(`a ${what} of at least ${min} ${unit}; the limit is ${limit}`, at, "LIMIT_MEMORY");
}

/** A vector section with further elements at its end. */
function extended(module: CoreModule, id: number, further: readonly Uint8Array[]): Uint8Array {
  const reader = readerOf(module, id);
  const count = reader === undefined ? 0 : reader.u32("a count");
  return section(id, [leb(count + further.length), reader?.slice() ?? new Uint8Array(0), ...further]);
}

function exportOf(name: string, kind: number, index: number): Uint8Array {
  return joined([asciiName(name), Uint8Array.of(kind), leb(index)]);
}

function copied(module: CoreModule, range: SectionRange): Uint8Array {
  return section(range.id, [module.bytes.subarray(range.start, range.end)]);
}

function readerOf(module: CoreModule, id: number): Reader | undefined {
  const range = module.sections.find((each) => each.id === id);
  return range === undefined ? undefined : new Reader(module.bytes, range.start, range.end);
}
