// Resolves wit-component's shim and fix-up modules, so that they are not instantiated. A lowered import needs the memory of the module that
// imports it. wit-component breaks that circle with a module that calls through a table (shim) and a module that fills the table (fix-up).
// The host passes the import directly and looks up the memory at the call. Only modules that are exactly that, byte for byte, are omitted.

import type { CoreModule } from "../binary/core-module.ts";
import { Reader } from "../../../wit/binary/reader.ts";
import type { CoreInstantiation } from "./core-scope.ts";
import type { CoreItem } from "./items.ts";

/** `resolve` maps a shim's export to the function that its fix-up puts into the table. `omitted` has the shims' and fix-ups' numbers. */
export function resolveShims(instantiations: readonly CoreInstantiation[]): {
  readonly omitted: ReadonlySet<number>;
  readonly resolve: (item: CoreItem) => CoreItem;
} {
  const omitted = new Set<number>();
  const replaced = new Map<number, ReadonlyMap<string, CoreItem>>();
  for (const [number, shim] of instantiations.entries()) {
    if (!isShim(shim.module)) continue;
    const size = shim.module.definedFunctions.length;
    const ofTable = (item: CoreItem) => item.from === "instance" && item.instance === number && item.name === "$imports";
    const users = [...instantiations.entries()].filter(([, { imports }]) => imports.some(({ item }) => ofTable(item)));
    const [fixup] = users;
    if (fixup === undefined || users.length > 1 || !isFixup(fixup[1].module, size)) continue;
    // The table's entries are the fix-up's imported functions, in their order.
    const functions = fixup[1].imports.filter(({ item }) => !ofTable(item)).map(({ item }) => item);
    if (functions.some((item) => item.from === "instance" && item.instance === number)) continue;
    const byName = new Map(functions.map((item, index) => [String(index), item]));
    replaced.set(number, byName);
    omitted.add(number).add(fixup[0]);
  }
  const resolve = (item: CoreItem): CoreItem =>
    item.from === "instance" ? (replaced.get(item.instance)?.get(item.name) ?? item) : item;
  return { omitted, resolve };
}

function sectionOf(module: CoreModule, id: number): Reader | undefined {
  const range = module.sections.find((section) => section.id === id);
  return range === undefined ? undefined : new Reader(module.bytes, range.start, range.end);
}

function hasSections(module: CoreModule, ids: readonly number[]): boolean {
  return module.sections.map(({ id }) => id).join() === ids.join();
}

// A shim has types, functions, one table, the exports "0".."n-1" and "$imports", and bodies that pass on all parameters.
function isShim(module: CoreModule): boolean {
  const size = module.definedFunctions.length;
  // Below 64, a signed LEB128 (of i32.const) and an unsigned one are the same byte.
  if (size > 63 || !hasSections(module, [1, 3, 4, 7, 10]) || module.exports.size !== size + 1 || module.tables.length !== 1)
    return false;
  const exports = sectionOf(module, 7);
  const functions = sectionOf(module, 3);
  const code = sectionOf(module, 10);
  if (exports === undefined || functions === undefined || code === undefined) return false;
  if (exports.u32("") !== size + 1 || functions.u32("") !== size || code.u32("") !== size) return false;
  for (const [index, type] of module.definedFunctions.entries()) {
    if (exports.name("") !== String(index) || exports.byte("") !== 0 || exports.u32("") !== index) return false;
    const typeIndex = functions.u32("");
    const body = code.take(code.u32(""), "");
    if (body.u32("") !== 0) return false;
    for (const param of type.params.keys()) if (body.byte("") !== 0x20 || body.u32("") !== param) return false;
    if (body.byte("") !== 0x41 || body.u32("") !== index) return false;
    if (body.byte("") !== 0x11 || body.u32("") !== typeIndex || body.u32("") !== 0 || body.byte("") !== 0x0b || !body.atEnd)
      return false;
  }
  return exports.name("") === "$imports" && exports.byte("") === 1;
}

// A fix-up imports n functions and a table, and has one active element segment that puts function i at index i.
function isFixup(module: CoreModule, size: number): boolean {
  if (!hasSections(module, [1, 2, 9]) || module.imports.length !== size + 1) return false;
  const functions = module.imports.filter(({ kind }) => kind === "func").length;
  const tables = module.imports.filter(({ kind }) => kind === "table").length;
  const elements = sectionOf(module, 9);
  if (functions !== size || tables !== 1 || elements === undefined) return false;
  if (elements.u32("") !== 1 || elements.u32("") !== 0) return false;
  if (elements.byte("") !== 0x41 || elements.byte("") !== 0 || elements.byte("") !== 0x0b || elements.u32("") !== size)
    return false;
  for (let index = 0; index < size; index += 1) if (elements.u32("") !== index) return false;
  return elements.atEnd;
}
