// WIT model → AssemblyScript: the files that a guest imports, and the entry that ties its exports.

import type { WitModel } from "../../model.ts";
import { callsFile } from "./calls-file.ts";
import { compoundsFile } from "./compounds-file.ts";
import { entryFile, type Entry } from "./entry-file.ts";
import { GuestTypes } from "./guest-types.ts";
import { interfaceFile } from "./interface-file.ts";
import { Layout } from "../layout.ts";
import { MemoryCodec } from "./memory-codec.ts";
import { fileName, guestType } from "./names.ts";

export interface GenerateInit {
  readonly model: WitModel;
  readonly world: string;
  /** Doc comments, see docs.ts. */
  readonly docs?: ReadonlyMap<string, string>;
  /** Import path of the generated files. */
  readonly bindings: string;
  /** Import path of the author's functions of an exported interface. */
  readonly implementation: (iface: string) => string;
}

/** The generated files of one world. */
export interface Bindings {
  /** Text by file name, e.g. `types.ts`, `codec.ts`. */
  readonly files: ReadonlyMap<string, string>;
  readonly entry: Entry;
}

/** Generates the bindings of one world. Throws if the model has features that the guest kit does not support. */
export function generate({ model, world: worldName, docs = new Map(), bindings, implementation }: GenerateInit): Bindings {
  const world = model.worlds[worldName];
  if (world === undefined) throw new Error(`the model has no world ${worldName}, only ${Object.keys(model.worlds).join(", ")}`);
  const layout = new Layout(model);
  const typeNames = Object.values(model.interfaces).flatMap((iface) => Object.keys(iface.types).map(guestType));
  const types = new GuestTypes(layout, typeNames);
  const codec = new MemoryCodec(types);
  const files = new Map<string, string>();
  for (const iface of new Set([...world.imports, ...world.exports])) {
    const definition = model.interfaces[iface];
    if (definition === undefined) throw new Error(`the model has no interface ${iface}`);
    const callable = world.imports.includes(iface);
    files.set(`${fileName(iface)}.ts`, interfaceFile({ iface, definition, types, docs, callable }));
  }
  files.set("calls.ts", callsFile(model, world.imports, types, codec));
  const entry = entryFile({ model, exports: world.exports, implementation, bindings }, types, codec);
  files.set("codec.ts", codec.file());
  files.set("compounds.ts", compoundsFile(types));
  return { files, entry };
}
