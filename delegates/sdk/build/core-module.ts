// Changes that a core module needs before it becomes a component. AssemblyScript cannot write export names of the component
// model, so the names are written here.

import { many } from "../../../wit/binary/component-types.ts";
import { Reader } from "../../../wit/binary/reader.ts";
import { sections, type Section } from "../../../wit/binary/sections.ts";

const utf8 = new TextEncoder();

/** The compiler's output is trusted: the reader only bounds a vector by the bytes that are left. */
const maxItems = Number.POSITIVE_INFINITY;

/** An unsigned number in LEB128. */
export function leb128(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  do {
    const low = rest % 128;
    rest = Math.floor(rest / 128);
    bytes.push(rest === 0 ? low : low | 0x80);
  } while (rest !== 0);
  return bytes;
}

/** A section's bytes: id, length, body. */
export function section(id: number, body: Iterable<number>): number[] {
  const bytes = [...body];
  return [id, ...leb128(bytes.length), ...bytes];
}

/** A name: its length and its UTF-8. */
export function nameBytes(text: string): number[] {
  const bytes = utf8.encode(text);
  return [...leb128(bytes.length), ...bytes];
}

/** A custom section's bytes. */
export function customSection(title: string, body: Uint8Array): number[] {
  return section(0, [...nameBytes(title), ...body]);
}

/** One import of a core module. */
export interface CoreImport {
  readonly module: string;
  readonly name: string;
}

/** The imports of a core module, in order. Throws on imports other than functions, which a guest never has. */
export function coreImports(binary: Uint8Array): CoreImport[] {
  const part = sections(binary).find((s) => s.id === 2);
  if (part === undefined) return [];
  const reader = new Reader(part.body);
  const read = (): CoreImport => {
    const found = { module: reader.name("an import's module"), name: reader.name("an import's name") };
    if (reader.byte("an import") !== 0) throw new Error(`${found.module} ${found.name} is imported but is not a function`);
    reader.u32("a type index");
    return found;
  };
  return many(reader, "imports", read, maxItems);
}

/**
 * Renames exports and removes custom sections (producers, and names for debuggers unless `keepsNames` is set). Exports that `names` lacks are
 * removed; `memory` stays.
 */
export function rename(binary: Uint8Array, names: ReadonlyMap<string, string>, keepsNames = false): Uint8Array {
  const out: number[] = [...binary.subarray(0, 8)];
  for (const part of sections(binary)) {
    if (part.id === 0) {
      if (keepsNames && part.name === "name") for (const byte of customSection(part.name, part.body)) out.push(byte);
      continue;
    }
    for (const byte of section(part.id, part.id === 7 ? renamedExports(part, names) : part.body)) out.push(byte);
  }
  return Uint8Array.from(out);
}

/** A module or component without its outermost custom sections: names for debuggers and the tools that made it. */
export function withoutCustomSections(binary: Uint8Array): Uint8Array {
  const kept = sections(binary).filter((part) => part.id !== 0);
  const pieces = kept.flatMap((part) => [Uint8Array.from([part.id, ...leb128(part.body.length)]), part.body]);
  return Buffer.concat([binary.subarray(0, 8), ...pieces]);
}

function renamedExports(part: Section, names: ReadonlyMap<string, string>): number[] {
  const reader = new Reader(part.body);
  const read = () => ({ old: reader.name("an export's name"), kind: reader.byte("an export"), index: reader.u32("an index") });
  const renamed = many(reader, "exports", read, maxItems).flatMap(({ old, kind, index }) => {
    const newName = old === "memory" ? old : names.get(old);
    return newName === undefined ? [] : [[...nameBytes(newName), kind, ...leb128(index)]];
  });
  return [...leb128(renamed.length), ...renamed.flat()];
}
