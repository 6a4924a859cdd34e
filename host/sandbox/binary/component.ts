// Reads a component's sections as a list of definitions, in the order of their indices. Nested components and core modules stay byte
// ranges until they are instantiated.

import {
  readAlias,
  readCoreSort,
  readSort,
  type AliasDefinition,
  type CoreSort,
  type Sort,
} from "../../../wit/binary/component-aliases.ts";
import {
  readExternDescription,
  readExternName,
  readTypeDefinition,
  type ExternDescription,
  type TypeDefinition,
} from "../../../wit/binary/component-types.ts";
import { requireCoreName } from "../../../wit/binary/names.ts";
import type { Reader } from "../../../wit/binary/reader.ts";
import { refuse } from "../../../wit/binary/refusal.ts";
import { maxWork, type WorkBudget } from "./work-budget.ts";

/** A reference to a definition: its sort and its index. */
export interface Use<S> {
  readonly sort: S;
  readonly index: number;
}

/** Options of a canonical definition: indices of core memory and core functions. */
export interface CanonicalOptions {
  readonly memory: number | undefined;
  readonly realloc: number | undefined;
  readonly postReturn: number | undefined;
}

/** One definition of a component, and its byte offset `at`. */
export type Definition = { readonly at: number } & (
  | { readonly kind: "core-module" | "component"; readonly range: Reader }
  | { readonly kind: "core-instantiate"; readonly module: number; readonly args: readonly (readonly [string, number])[] }
  | { readonly kind: "core-bundle"; readonly exports: readonly (readonly [string, Use<CoreSort>])[] }
  | { readonly kind: "instantiate"; readonly component: number; readonly args: readonly (readonly [string, Use<Sort>])[] }
  | { readonly kind: "bundle"; readonly exports: readonly (readonly [string, Use<Sort>])[] }
  | { readonly kind: "alias"; readonly alias: AliasDefinition }
  | { readonly kind: "type"; readonly type: TypeDefinition }
  | { readonly kind: "lift"; readonly func: number; readonly options: CanonicalOptions; readonly type: number }
  | { readonly kind: "lower"; readonly func: number; readonly options: CanonicalOptions }
  | { readonly kind: "resource"; readonly operation: "new" | "drop" | "rep"; readonly type: number }
  | { readonly kind: "import"; readonly name: string; readonly description: ExternDescription }
  | {
      readonly kind: "export";
      readonly name: string;
      readonly use: Use<Sort>;
      readonly description: ExternDescription | undefined;
    }
  | { readonly kind: "custom"; readonly name: string; readonly content: Uint8Array }
);

const refusedSections: Readonly<Record<number, string>> = {
  3: "a core type section",
  9: "a start section",
  12: "a section of values",
};

/** Reads the preamble of a component: magic, version 0x0d, layer 1. Refuses any other. */
export function readPreamble(reader: Reader): void {
  const { bytes, pos } = reader;
  if (reader.left < 8 || [0x00, 0x61, 0x73, 0x6d].some((byte, index) => bytes[pos + index] !== byte)) {
    refuse("not a WebAssembly binary", pos);
  }
  const version = (bytes[pos + 4] ?? 0) + (bytes[pos + 5] ?? 0) * 256;
  const layer = (bytes[pos + 6] ?? 0) + (bytes[pos + 7] ?? 0) * 256;
  if (layer === 0) refuse("a core module, not a component; make one with `jco new`", pos + 4);
  if (layer !== 1 || version !== 13)
    refuse(`a binary of version ${version}, layer ${layer}; components are version 13, layer 1`, pos + 4);
  reader.take(8, "a preamble");
}

/** Reads the definitions of the component that `reader` covers. Refuses more work than `budget` has left. */
export function readComponent(reader: Reader, budget: WorkBudget): readonly Definition[] {
  readPreamble(reader);
  const definitions: Definition[] = [];
  while (!reader.atEnd) {
    const at = reader.pos;
    budget.spend("sections", 1, at);
    const id = reader.byte("a section");
    const content = reader.take(reader.u32("a section's size"), "a section");
    if (id === 0) {
      const name = content.name("a custom section's name");
      budget.spend("definitions", 1, at);
      definitions.push({ at, kind: "custom", name, content: content.slice() });
    } else if (id === 1 || id === 4) {
      budget.spend("definitions", 1, at);
      definitions.push({ at, kind: id === 1 ? "core-module" : "component", range: content });
    } else {
      budget.spend("definitionBytes", content.left, at);
      readVector(id, content, at, definitions, budget);
      content.finish(`section ${id}`);
    }
  }
  return definitions;
}

function readVector(id: number, reader: Reader, section: number, definitions: Definition[], budget: WorkBudget): void {
  const read = readers[id];
  if (read === undefined)
    refuse(`${refusedSections[id] ?? `a section with the unknown id ${id}`} is not part of a delegate`, section);
  const count = reader.count("definitions", maxWork.definitions);
  budget.spend("definitions", count, section);
  for (let left = count; left > 0; left -= 1) definitions.push(read(reader, reader.pos));
}

function args<T>(reader: Reader, read: () => T): T[] {
  const items: T[] = [];
  for (let left = reader.count("arguments", 2000); left > 0; left -= 1) items.push(read());
  return items;
}

const readers: Readonly<Record<number, (reader: Reader, at: number) => Definition>> = {
  2: (reader, at) => {
    if (readForm(reader, "a core instance") === 1) {
      const one = () =>
        [requireCoreName(reader, "a name"), { sort: readCoreSort(reader), index: reader.u32("an index") }] as const;
      return { at, kind: "core-bundle", exports: args(reader, one) };
    }
    const module = reader.u32("a module index");
    return { at, kind: "core-instantiate", module, args: args(reader, () => readCoreArgument(reader)) };
  },
  5: (reader, at) => {
    const form = readForm(reader, "an instance");
    const component = form === 0 ? reader.u32("a component index") : 0;
    const one = () => {
      // An argument has a plain name. An inline export has an extern name, which begins with a form byte.
      const name = form === 0 ? requireCoreName(reader, "an argument's name") : readExternName(reader, "a name");
      return [name, { sort: readSort(reader), index: reader.u32("an index") }] as const;
    };
    const items = args(reader, one);
    return form === 0 ? { at, kind: "instantiate", component, args: items } : { at, kind: "bundle", exports: items };
  },
  6: (reader, at) => ({ at, kind: "alias", alias: readAlias(reader) }),
  7: (reader, at) => ({ at, kind: "type", type: readTypeDefinition(reader) }),
  8: readCanonical,
  10: (reader, at) => ({
    at,
    kind: "import",
    name: readExternName(reader, "an import's name"),
    description: readExternDescription(reader),
  }),
  11: (reader, at) => {
    const name = readExternName(reader, "an export's name");
    const use = { sort: readSort(reader), index: reader.u32("an index") };
    const ascribed = readForm(reader, "an export's description") === 1;
    return { at, kind: "export", name, use, description: ascribed ? readExternDescription(reader) : undefined };
  },
};

function readForm(reader: Reader, what: string): number {
  const at = reader.pos;
  const form = reader.byte(what);
  return form <= 1 ? form : refuse(`${what} of the unknown form ${form}`, at);
}

function readCoreArgument(reader: Reader): readonly [string, number] {
  const name = requireCoreName(reader, "an argument's name");
  const at = reader.pos;
  if (reader.byte("an argument") !== 0x12) refuse("an argument of a core module is not an instance", at);
  return [name, reader.u32("an instance index")];
}

function readCanonical(reader: Reader, at: number): Definition {
  const form = reader.byte("a canonical definition");
  if (form === 0x00 || form === 0x01) {
    if (reader.byte("a canonical definition") !== 0) refuse("a canonical definition of an unknown form", at);
    const func = reader.u32("a function index");
    const options = readOptions(reader);
    return form === 0
      ? { at, kind: "lift", func, options, type: reader.u32("a type index") }
      : { at, kind: "lower", func, options };
  }
  const operation = ({ 0x02: "new", 0x03: "drop", 0x04: "rep" } as const)[form];
  if (operation === undefined)
    refuse(`the canonical built-in 0x${form.toString(16)} (async, threads, …) is not part of a delegate`, at);
  return { at, kind: "resource", operation, type: reader.u32("a type index") };
}

function readOptions(reader: Reader): CanonicalOptions {
  let memory: number | undefined;
  let realloc: number | undefined;
  let postReturn: number | undefined;
  for (let left = reader.count("options", 10); left > 0; left -= 1) {
    const at = reader.pos;
    const option = reader.byte("an option");
    if (option === 0x03) memory = reader.u32("a memory index");
    else if (option === 0x04) realloc = reader.u32("a function index");
    else if (option === 0x05) postReturn = reader.u32("a function index");
    else if (option !== 0x00) {
      const name = ({ 1: "strings in UTF-16", 2: "strings in Latin-1 or UTF-16", 6: "async", 7: "a callback" } as const)[option];
      refuse(`the canonical option ${name ?? option} is not supported; strings are UTF-8 and calls synchronous`, at);
    }
  }
  return { memory, realloc, postReturn };
}
