// JavaScript around a delegate that checks each value before it crosses to the contract's types: the interpreters' own conversion ends in a
// panic that names no member.

import { camel } from "../../../wit/codegen/names.ts";
import { interfaceId } from "../../../wit/codegen/shapes.ts";
import type { TypeDef, TypeRef, WitModel } from "../../../wit/model.ts";
import { valueChecks } from "./value-checks.ts";

/** The directory of the checking modules, below that of the delegate's modules. */
export const checkedDirectory = "plexus-checked";

/** The types that the verbs answer. */
const answered: readonly TypeRef[] = [{ ref: "types.success" }, { ref: "types.fault" }];

/** The files: `values.js`, and one module for each capability, with the functions of its interface. */
export function checkedModules(model: WitModel, capabilities: readonly string[]): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  const used = new Map<string, TypeDef>();
  for (const type of answered) collect(model, type, used);
  for (const name of capabilities) {
    const functions = Object.entries(model.interfaces[name]?.functions ?? {});
    for (const [, { params }] of functions) for (const [, type] of params) collect(model, type, used);
    const exported = functions.map(([func, { params }]) => {
      const list = params.map(([param, type]) => [camel(param), type]);
      const call = `${name}.${camel(func)}`;
      return `export const ${camel(func)} = checked(${JSON.stringify(call)}, ${JSON.stringify(list)}, contract.${camel(func)});\n`;
    });
    files.set(
      `${name}.js`,
      `import * as contract from "${interfaceId(model, name)}";\nimport { checked } from "./values.js";\n\n${exported.join("")}`,
    );
  }
  const types = Object.fromEntries([...used].map(([name, def]) => [name, inCamelCase(def)]));
  files.set("values.js", valueChecks(JSON.stringify(types), model.version));
  return files;
}

/** A module's text with imports of the contract from the checking modules. Each line stays where it is. `depth`: of the module's directory. */
export function withCheckedImports(text: string, imports: RegExp, depth: number): string {
  return text.replace(imports, (statement: string, specifier: string, name: string) => {
    const at = statement.lastIndexOf(specifier);
    const path = `${"../".repeat(depth)}${checkedDirectory}/${name}.js`;
    return `${statement.slice(0, at)}${path}${statement.slice(at + specifier.length)}`;
  });
}

/** Adds the named types on which a type depends. */
function collect(model: WitModel, type: TypeRef, used: Map<string, TypeDef>): void {
  if (typeof type === "string") return;
  if ("ref" in type) {
    if (used.has(type.ref)) return;
    const dot = type.ref.lastIndexOf(".");
    const def = model.interfaces[type.ref.slice(0, dot)]?.types[type.ref.slice(dot + 1)];
    if (def === undefined) throw new Error(`the contract has no type ${type.ref}`);
    used.set(type.ref, def);
    for (const each of partsOf(def)) collect(model, each, used);
    return;
  }
  if ("list" in type) collect(model, type.list, used);
  else if ("option" in type) collect(model, type.option, used);
  else if ("tuple" in type) for (const each of type.tuple) collect(model, each, used);
  else for (const each of [type.result.ok, type.result.err]) if (each !== null) collect(model, each, used);
}

function partsOf(def: TypeDef): readonly TypeRef[] {
  if ("alias" in def) return [def.alias];
  if ("record" in def) return def.record.map(([, type]) => type);
  if ("variant" in def) return def.variant.flatMap(([, type]) => type ?? []);
  return [];
}

/** The definition with the names that JavaScript has for the members of a record. */
function inCamelCase(def: TypeDef): TypeDef {
  return "record" in def ? { record: def.record.map(([name, type]) => [camel(name), type]) } : def;
}
