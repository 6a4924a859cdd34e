// The imports of a core module by Go's linker, which may import a function twice.

import { many } from "../../../wit/binary/component-types.ts";
import { Reader } from "../../../wit/binary/reader.ts";
import { preambleBytes, sections } from "../../../wit/binary/sections.ts";
import { type CoreFunctionType, readFunctionType } from "../../../host/sandbox/binary/core-types.ts";
import { leb128, nameBytes, section } from "./core-module.ts";

/** An imported function. */
export interface CoreFunctionImport extends CoreFunctionType {
  readonly module: string;
  readonly name: string;
  /** The name, with a number if an earlier import of the module has it, too. */
  readonly uniqueName: string;
}

/** The compiler's output is trusted: the reader only bounds a vector by the bytes that are left. */
const maxItems = Number.POSITIVE_INFINITY;

/**
 * The imported functions, and the module with their unique names. wit-component would name a second import `fd_write [v2]`, which a node
 * refuses.
 */
export function withUniqueImports(binary: Uint8Array): { readonly imports: CoreFunctionImport[]; readonly module: Uint8Array } {
  const parts = sections(binary);
  const types = readTypes(parts.find(({ id }) => id === 1)?.body);
  const counts = new Map<string, number>();
  const imports: CoreFunctionImport[] = [];
  const bytes: number[] = [];
  const part = parts.find(({ id }) => id === 2);
  if (part === undefined) return { imports, module: binary };
  const reader = new Reader(part.body);
  many(
    reader,
    "imports",
    () => {
      const [module, name] = [reader.name("an import's module"), reader.name("an import's name")];
      if (reader.byte("an import") !== 0) throw new Error(`${module} ${name} is imported but is not a function`);
      const index = reader.u32("a type index");
      const type = types[index];
      if (type === undefined) throw new Error(`${module} ${name} has no type`);
      const count = (counts.get(`${module} ${name}`) ?? 0) + 1;
      counts.set(`${module} ${name}`, count);
      const uniqueName = count === 1 ? name : `${name}_${count}`;
      imports.push({ module, name, uniqueName, ...type });
      bytes.push(...nameBytes(module), ...nameBytes(uniqueName), 0, ...leb128(index));
    },
    maxItems,
  );
  const renamed = Uint8Array.from(section(2, [...leb128(imports.length), ...bytes]));
  const module = Buffer.concat([
    binary.subarray(0, preambleBytes),
    ...parts.map((each) => (each === part ? renamed : each.whole)),
  ]);
  return { imports, module };
}

function readTypes(body: Uint8Array | undefined): readonly CoreFunctionType[] {
  if (body === undefined) return [];
  const reader = new Reader(body);
  return many(reader, "types", () => readFunctionType(reader), maxItems);
}
