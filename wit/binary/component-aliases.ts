// Reads sorts and aliases of a component's binary (component model, Binary.md).

import { requireCoreName, requireExternName } from "./names.ts";
import type { Reader } from "./reader.ts";
import { refuse } from "./refusal.ts";

/** The sort of a core definition: its index space. */
export type CoreSort = "func" | "table" | "memory" | "global" | "module" | "instance";
/** The sort of a component-level definition: its index space. */
export type Sort = "func" | "type" | "component" | "instance" | `core ${CoreSort}`;

/** An alias of an instance's export, of a core instance's export, or of an outer scope's definition. */
export type AliasDefinition =
  | { readonly kind: "export"; readonly sort: Sort; readonly instance: number; readonly name: string }
  | { readonly kind: "core-export"; readonly sort: Sort; readonly instance: number; readonly name: string }
  | { readonly kind: "outer"; readonly sort: Sort; readonly count: number; readonly index: number };

const coreSorts: Readonly<Record<number, CoreSort>> = {
  0: "func",
  1: "table",
  2: "memory",
  3: "global",
  0x11: "module",
  0x12: "instance",
};
const sorts: Readonly<Record<number, Sort>> = { 1: "func", 3: "type", 4: "component", 5: "instance" };

/** Reads the sort of a core item; tags and core types are refused. */
export function readCoreSort(reader: Reader): CoreSort {
  const at = reader.pos;
  const byte = reader.byte("a core sort");
  return coreSorts[byte] ?? refuse(`${byte === 4 ? "a tag (exceptions)" : `core sort ${byte}`} is not part of a delegate`, at);
}

/** Reads a sort; values are refused. */
export function readSort(reader: Reader): Sort {
  const at = reader.pos;
  const byte = reader.byte("a sort");
  if (byte === 0) return `core ${readCoreSort(reader)}`;
  return sorts[byte] ?? refuse(`sort ${byte} is not part of a delegate`, at);
}

/** Reads an alias. */
export function readAlias(reader: Reader): AliasDefinition {
  const sort = readSort(reader);
  const at = reader.pos;
  const target = reader.byte("an alias");
  switch (target) {
    case 0:
      return {
        kind: "export",
        sort,
        instance: reader.u32("an instance index"),
        name: requireExternName(reader, "an aliased name"),
      };
    case 1:
      return {
        kind: "core-export",
        sort,
        instance: reader.u32("an instance index"),
        name: requireCoreName(reader, "an aliased name"),
      };
    case 2:
      return { kind: "outer", sort, count: reader.u32("a scope count"), index: reader.u32("an index") };
    default:
      return refuse(`an alias of kind ${target}`, at);
  }
}
