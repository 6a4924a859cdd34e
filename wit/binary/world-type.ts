// Reads the type of a world (`componenttype`), as wit-component writes it into a core module. A delegate has no such type: admission refuses it.

import { readAlias } from "./component-aliases.ts";
import {
  many,
  readExternDescription,
  readExternName,
  readTypeDefinition,
  type Declarator,
  type ExternDescription,
} from "./component-types.ts";
import type { Reader } from "./reader.ts";
import { refuse } from "./refusal.ts";

/** One declaration of a world's type. `component` defines a type, which has an index like that of `type`. */
export type WorldDeclarator =
  | Exclude<Declarator, { readonly kind: "export" }>
  | { readonly kind: "component"; readonly at: number; readonly declarations: readonly WorldDeclarator[] }
  | ({ readonly kind: "import" } & Described)
  | ({ readonly kind: "export" } & Described);

interface Described {
  readonly at: number;
  readonly name: string;
  readonly description: ExternDescription | { readonly kind: "component"; readonly type: number };
}

const componentType = 0x41;
const componentSort = 0x04;

/** Reads a component type: its declarations, in order. */
export function readWorldType(reader: Reader): readonly WorldDeclarator[] {
  const at = reader.pos;
  if (reader.byte("a world's type") !== componentType) refuse("a type that is not a component type", at);
  return many(reader, "declarations", () => readDeclarator(reader), 5000);
}

function readDeclarator(reader: Reader): WorldDeclarator {
  const at = reader.pos;
  const kind = reader.byte("a declaration");
  switch (kind) {
    case 0x01:
      return reader.bytes[reader.pos] === componentType
        ? { kind: "component", at, declarations: readWorldType(reader) }
        : { kind: "type", at, type: readTypeDefinition(reader) };
    case 0x02:
      return { kind: "alias", at, alias: readAlias(reader) };
    case 0x03:
    case 0x04:
      return {
        kind: kind === 0x03 ? "import" : "export",
        at,
        name: readExternName(reader, "a name"),
        description: readDescription(reader),
      };
    default:
      return refuse(`a declaration of kind ${kind} in a world's type`, at);
  }
}

function readDescription(reader: Reader): Described["description"] {
  if (reader.bytes[reader.pos] !== componentSort) return readExternDescription(reader);
  reader.byte("a description");
  return { kind: "component", type: reader.u32("a type index") };
}
