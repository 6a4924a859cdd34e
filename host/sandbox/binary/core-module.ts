// Reads a core module's outline: its imports, exports and definitions. Function bodies are skipped here; the meter reads them. Without the
// types that are refused here, no instruction can allocate outside linear memory and tables. V8 validates the rest.

import { skipConstantExpression } from "./core-expression.ts";
import {
  readFunctionType,
  readLimits,
  readTableType,
  readValueType,
  type CoreFunctionType,
  type CoreLimits,
} from "./core-types.ts";
import { readData, readElements } from "./core-segments.ts";
import { requireCoreName } from "./names.ts";
import type { Reader } from "./reader.ts";
import { refuse } from "./refusal.ts";
import type { WorkBudget } from "./work-budget.ts";

/** The kind of a core import or export. */
export type CoreKind = "func" | "table" | "memory" | "global";

/** One import of a core module. */
export interface CoreImport {
  readonly module: string;
  readonly name: string;
  readonly kind: CoreKind;
  /** The type of a function; undefined for any other kind. */
  readonly type: CoreFunctionType | undefined;
  readonly at: number;
}

/** One export of a core module. */
export interface CoreExport {
  readonly kind: CoreKind;
  /** The type of a function; undefined for any other kind. */
  readonly type: CoreFunctionType | undefined;
}

/** The byte range of a section's content; `id` is the specification's number. */
export interface SectionRange {
  readonly id: number;
  readonly start: number;
  readonly end: number;
}

/** The outline of a core module. */
export interface CoreModule {
  readonly bytes: Uint8Array;
  /** Offset of the module's first byte in the component. */
  readonly start: number;
  readonly end: number;
  /** All sections except custom sections, in order. */
  readonly sections: readonly SectionRange[];
  /** The custom section with the names for debuggers, if the module has one. */
  readonly names: SectionRange | undefined;
  readonly imports: readonly CoreImport[];
  readonly exports: ReadonlyMap<string, CoreExport>;
  /** Defined tables; imported ones are not included. The same holds for memories and functions. */
  readonly tables: readonly CoreLimits[];
  readonly memories: readonly CoreLimits[];
  readonly definedFunctions: readonly CoreFunctionType[];
  /** The types of all functions, imported ones first. */
  readonly functions: readonly CoreFunctionType[];
  readonly types: readonly CoreFunctionType[];
  /** Sizes of the index spaces, including imports: each is the next free index. */
  readonly counts: Readonly<Record<CoreKind | "types", number>>;
}

/** V8 keeps some 500 bytes for a type that has 25. A compiler makes some hundred types. */
const maxTypes = 20_000;

// Position of each section id in a module: 12 (data count) is between 9 and 10.
const ranks: Readonly<Record<number, number>> = { 1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 7, 7: 8, 8: 9, 9: 10, 12: 11, 10: 12, 11: 13 };
const kinds: Readonly<Record<number, CoreKind>> = { 0: "func", 1: "table", 2: "memory", 3: "global" };

/** Reads the outline of the module that `reader` covers. Refuses everything that a delegate may not use, and more work than `budget` has left. */
export function readCoreModule(reader: Reader, budget: WorkBudget): CoreModule {
  const { bytes, end, pos: start } = reader;
  const preamble = reader.take(8, "a core module's preamble");
  if (!isCorePreamble(preamble)) refuse("a core module without WebAssembly's preamble (version 1)", start);
  const sections: SectionRange[] = [];
  const outline = new Outline();
  let names: SectionRange | undefined;
  let last = 0;
  while (!reader.atEnd) {
    const at = reader.pos;
    budget.spend("sections", 1, at);
    const id = reader.byte("a section");
    const content = reader.take(reader.u32("a section's size"), "a section");
    if (id === 0) {
      const { pos } = content;
      if (content.name("a custom section's name") === "name") names ??= { id, start: pos, end: content.end };
      continue;
    }
    if (id === 13) refuse("a section of tags (exceptions) is not allowed in a delegate", at);
    const rank = ranks[id];
    if (rank === undefined) refuse(`a core section with the unknown id ${id}`, at);
    if (rank <= last) refuse(`core section ${id} is out of order`, at);
    last = rank;
    sections.push({ id, start: content.pos, end: content.end });
    outline.section(id, content);
    content.finish(`core section ${id}`);
  }
  if (outline.bodies !== outline.definedFunctions.length) {
    refuse(`a module with ${outline.definedFunctions.length} functions and ${outline.bodies} bodies`, start);
  }
  return { bytes, start, end, sections, names, ...outline.result() };
}

function isCorePreamble(reader: Reader): boolean {
  return [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00].every((byte, index) => reader.bytes[reader.pos + index] === byte);
}

class Outline {
  readonly types: CoreFunctionType[] = [];
  readonly imports: CoreImport[] = [];
  readonly exports = new Map<string, CoreExport>();
  readonly functions: CoreFunctionType[] = [];
  readonly definedFunctions: CoreFunctionType[] = [];
  readonly tables: CoreLimits[] = [];
  readonly memories: CoreLimits[] = [];
  readonly counts: Record<CoreKind, number> = { func: 0, table: 0, memory: 0, global: 0 };
  bodies = 0;

  result() {
    const { imports, exports, tables, memories, definedFunctions, functions, types } = this;
    return {
      imports,
      exports,
      tables,
      memories,
      definedFunctions,
      functions,
      types,
      counts: { ...this.counts, types: types.length },
    };
  }

  section(id: number, reader: Reader): void {
    switch (id) {
      case 1:
        for (let left = reader.count("types", maxTypes); left > 0; left -= 1) this.types.push(readFunctionType(reader));
        return;
      case 2:
        for (let left = reader.count("imports", 2000); left > 0; left -= 1) this.#import(reader);
        return;
      case 3:
        for (let left = reader.count("functions"); left > 0; left -= 1) this.#function(reader);
        return;
      case 4:
        for (let left = reader.count("tables", 2); left > 0; left -= 1)
          this.tables.push(this.#counted("table", readTableType(reader)));
        return;
      case 5:
        for (let left = reader.count("memories", 1); left > 0; left -= 1) {
          this.memories.push(this.#counted("memory", readLimits(reader, "memory")));
        }
        return;
      case 6:
        for (let left = reader.count("globals", 10_000); left > 0; left -= 1) {
          readGlobalType(reader);
          skipConstantExpression(reader);
          this.counts.global += 1;
        }
        return;
      case 7:
        for (let left = reader.count("exports", 5000); left > 0; left -= 1) this.#export(reader);
        return;
      case 8:
        this.#functionAt(reader.u32("the start function"), reader.pos);
        return;
      case 9:
        readElements(reader);
        return;
      case 10:
        for (let left = reader.count("function bodies"); left > 0; left -= 1) {
          reader.take(reader.u32("a body's size"), "a function body");
          this.bodies += 1;
        }
        return;
      case 11:
        readData(reader);
        return;
      default:
        reader.u32("the data count");
    }
  }

  #import(reader: Reader): void {
    const at = reader.pos;
    const module = requireCoreName(reader, "an import's module name");
    const name = requireCoreName(reader, "an import's name");
    const kind = readKind(reader, "an import");
    let type: CoreFunctionType | undefined;
    if (kind === "func") {
      type = this.#typeAt(reader.u32("a type index"), at);
      this.functions.push(type);
    } else if (kind === "table") readTableType(reader);
    else if (kind === "memory") readLimits(reader, "memory");
    else readGlobalType(reader);
    this.counts[kind] += 1;
    this.imports.push({ module, name, kind, type, at });
  }

  #function(reader: Reader): void {
    const type = this.#typeAt(reader.u32("a type index"), reader.pos);
    this.functions.push(type);
    this.definedFunctions.push(type);
    this.counts.func += 1;
  }

  #export(reader: Reader): void {
    const at = reader.pos;
    const name = requireCoreName(reader, "an export's name");
    const kind = readKind(reader, "an export");
    const index = reader.u32("an index");
    if (index >= this.counts[kind]) refuse(`core export "${name}" names ${kind} ${index}, which does not exist`, at);
    if (this.exports.has(name)) refuse(`core export "${name}" appears twice`, at);
    this.exports.set(name, { kind, type: kind === "func" ? this.#functionAt(index, at) : undefined });
  }

  #typeAt(index: number, at: number): CoreFunctionType {
    return this.types[index] ?? refuse(`core type ${index} does not exist`, at);
  }

  #functionAt(index: number, at: number): CoreFunctionType {
    return this.functions[index] ?? refuse(`core function ${index} does not exist`, at);
  }

  #counted(kind: CoreKind, limits: CoreLimits): CoreLimits {
    this.counts[kind] += 1;
    return limits;
  }
}

function readKind(reader: Reader, what: string): CoreKind {
  const at = reader.pos;
  const byte = reader.byte(`the kind of ${what}`);
  if (byte === 4) refuse(`${what} of a tag (exceptions) is not allowed in a delegate`, at);
  return kinds[byte] ?? refuse(`${what} of the unknown kind ${byte}`, at);
}

function readGlobalType(reader: Reader): void {
  readValueType(reader);
  const at = reader.pos;
  const mutability = reader.byte("a global's mutability");
  if (mutability > 1) refuse(`a global with mutability ${mutability} (shared?) is not allowed in a delegate`, at);
}
