// WIT model → Go: the packages of the module `plexus` that follow from the contract. delegates/sdk/go/ has the files that do not.

import type { WitModel } from "../../model.ts";
import { docsOf } from "../docs.ts";
import { Layout } from "../layout.ts";
import { goInterface } from "./codec.ts";
import { goExports } from "./exports.ts";
import { goFunctions } from "./functions.ts";
import { goPackage } from "./names.ts";
import { comment, GoTypes, typeDeclaration } from "./types.ts";

const banner = "// Code generated from WIT by wit/codegen/go/. DO NOT EDIT.\n";
/** The interface whose types the package `plexus` has. */
const shared = "types";

/** The text of each generated file of the module, by its path. `wit`: the contract's text, for its comments. */
export function goBindings(model: WitModel, worldName: string, wit: string): ReadonlyMap<string, string> {
  const world = model.worlds[worldName];
  if (world === undefined) throw new Error(`the model has no world ${worldName}`);
  const layout = new Layout(model);
  const docs = docsOf(wit);
  const files = new Map<string, string>();
  for (const iface of world.imports) {
    if (iface === shared) continue;
    for (const [path, text] of capabilityFiles(model, iface, layout, docs)) files.set(path, text);
  }
  for (const [path, text] of rootFiles(model, world.exports, layout, docs)) files.set(path, text);
  return files;
}

/** The package of a capability. */
function capabilityFiles(
  model: WitModel,
  iface: string,
  layout: Layout,
  docs: ReadonlyMap<string, string>,
): readonly (readonly [path: string, text: string])[] {
  const types = new GoTypes(layout, iface);
  const declared = declarations(model, iface, types, docs);
  const imported = goInterface(model, iface, types, docs);
  const { functions, inDelegate, elsewhere } = goFunctions(imported);
  const name = goPackage(iface);
  const code = `${imported.codec.file()}\n${functions}`;
  const packageDoc = comment(docs.get(iface), `Package ${name}`);
  return [
    [`${name}/${name}.go`, `${banner}\n${packageDoc}package ${name}\n\n${imports(types)}${declared.join("")}${code}`],
    [`${name}/host_wasip1.go`, `${banner}\n//go:build wasip1\n\npackage ${name}\n\n${inDelegate}`],
    [`${name}/host_other.go`, `${banner}\n//go:build !wasip1\n\npackage ${name}\n\n${elsewhere}`],
  ];
}

/** The package `plexus`: the types that all share, and the exports. */
function rootFiles(
  model: WitModel,
  exported: readonly string[],
  layout: Layout,
  docs: ReadonlyMap<string, string>,
): readonly (readonly [path: string, text: string])[] {
  const types = new GoTypes(layout, shared);
  const declared = declarations(model, shared, types, docs);
  const [iface = ""] = exported;
  const plugins = goInterface(model, iface, types, docs);
  const { plugin, functions } = goExports(plugins);
  return [
    ["types.go", `${banner}\npackage plexus\n\n${declared.join("")}${plugin}`],
    [
      "exports_wasip1.go",
      `${banner}\n//go:build wasip1\n\npackage plexus\n\n${imports(types)}${plugins.codec.file()}\n${functions}`,
    ],
  ];
}

/** The declarations of an interface's types. */
function declarations(model: WitModel, iface: string, types: GoTypes, docs: ReadonlyMap<string, string>): readonly string[] {
  const declared = model.interfaces[iface]?.types ?? {};
  return Object.entries(declared).map(([name, def]) => typeDeclaration(types, iface, name, def, docs));
}

function imports({ packages }: GoTypes): string {
  const paths = [...packages].toSorted().map((name) => (name === "plexus" ? "plexus" : `plexus/${name}`));
  const all = [...paths, "plexus/internal/abi"];
  return `import (\n${all.map((path) => `\t"${path}"\n`).join("")})\n\n`;
}
