// Ties wit-component's shim and fix-up modules away. A lowered import needs the memory of the very module that imports
// it; wit-component breaks that circle with a module that calls through a table (shim) and one that fills the table
// (fix-up). The host gives the import directly and looks the memory up when it is called. Only modules that are, byte for
// byte, nothing but that are tied away; others are instantiated as they are.

import type { CoreModule } from "../binary/core-module.ts";
import { Reader } from "../binary/reader.ts";
import type { CoreInstantiation } from "./core-scope.ts";
import type { CoreItem } from "./items.ts";

/** Maps each shim's export to what its fix-up ties it to, and names the instances that became needless. */
export function tiedItems(instantiations: readonly CoreInstantiation[]): {
  readonly needless: ReadonlySet<number>;
  readonly tied: (item: CoreItem) => CoreItem;
} {
  const needless = new Set<number>();
  const replaced = new Map<number, ReadonlyMap<string, CoreItem>>();
  for (const [number, shim] of instantiations.entries()) {
    if (!isShim(shim.module)) continue;
    const size = shim.module.definedFunctions.length;
    const ofTable = (item: CoreItem) => item.from === "instance" && item.instance === number && item.name === "$imports";
    const users = [...instantiations.entries()].filter(([, { imports }]) => imports.some(({ item }) => ofTable(item)));
    const [fixup] = users;
    if (fixup === undefined || users.length > 1 || !isFixup(fixup[1].module, size)) continue;
    // The fix-up's functions, in the order of its imports, are what stands at the table's places.
    const functions = fixup[1].imports.filter(({ item }) => !ofTable(item)).map(({ item }) => item);
    if (functions.some((item) => item.from === "instance" && item.instance === number)) continue;
    const given = new Map(functions.map((item, index) => [String(index), item]));
    replaced.set(number, given);
    needless.add(number).add(fixup[0]);
  }
  const tied = (item: CoreItem): CoreItem =>
    item.from === "instance" ? (replaced.get(item.instance)?.get(item.name) ?? item) : item;
  return { needless, tied };
}

function sectionOf(module: CoreModule, id: number): Reader | undefined {
  const range = module.sections.find((section) => section.id === id);
  return range === undefined ? undefined : new Reader(module.bytes, range.start, range.end);
}

function hasSections(module: CoreModule, ids: readonly number[]): boolean {
  return module.sections.map(({ id }) => id).join() === ids.join();
}

// Types, functions, one table, exports "0".."n-1" and "$imports", and bodies that hand all parameters on.
function isShim(module: CoreModule): boolean {
  const size = module.definedFunctions.length;
  // Below 64 a signed LEB128 (i32.const's) and an unsigned one are the same byte.
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

// Imports n functions and a table, and has one active element segment that puts function i into place i.
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
