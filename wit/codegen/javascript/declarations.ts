// TypeScript declarations of the ABI's interfaces for guests in JavaScript: one ambient module for each interface. The forms are those of
// jco and of the QuickJS backend: an absent option is null, an enum is its name, and a failed result is thrown.

import type { TypeDef, TypeRef, WitFunction, WitModel } from "../../model.ts";
import { camel, pascal } from "../names.ts";
import { interfaceId } from "../shapes.ts";

/** The declarations' text. `docs`: doc comments by path, as `docsOf` finds them. */
export function javaScriptTypes(model: WitModel, docs: ReadonlyMap<string, string>): string {
  const modules = Object.entries(model.interfaces).map(([name, { types, functions }]) => {
    const items = [
      ...Object.entries(types).map(
        ([type, def]) => comment(docs.get(`${name}.${type}`), "  ") + typeItem(model, docs, name, type, def),
      ),
      ...Object.entries(functions).map(
        ([func, def]) => comment(docs.get(`${name}.${func}`), "  ") + functionItem(model, name, func, def),
      ),
    ];
    return `${comment(docs.get(name), "")}declare module "${interfaceId(model, name)}" {\n${items.join("\n")}}\n`;
  });
  return `// ${model.package}@${model.version} for guests in JavaScript and TypeScript.\n\n${modules.join("\n")}`;
}

function typeItem(model: WitModel, docs: ReadonlyMap<string, string>, iface: string, name: string, def: TypeDef): string {
  const at = `${iface}.${name}`;
  if ("record" in def) {
    const fields = def.record.map(([field, type]) => {
      const optional = typeof type === "object" && "option" in type ? "?" : "";
      return `${comment(docs.get(`${at}.${field}`), "    ")}    ${camel(field)}${optional}: ${typeText(model, iface, type)};\n`;
    });
    return `  export interface ${pascal(name)} {\n${fields.join("")}  }\n`;
  }
  return `  export type ${pascal(name)} = ${definition(model, iface, def)};\n`;
}

function definition(model: WitModel, iface: string, def: Exclude<TypeDef, { readonly record: unknown }>): string {
  if ("enum" in def) return def.enum.map((label) => JSON.stringify(label)).join(" | ");
  if ("alias" in def) return typeText(model, iface, def.alias);
  if ("flags" in def) return `{ ${def.flags.map((flag) => `${camel(flag)}?: boolean`).join("; ")} }`;
  return def.variant
    .map(([label, payload]) => {
      const value = payload === null ? "" : `; val: ${typeText(model, iface, payload)}`;
      return `\n    | { tag: ${JSON.stringify(label)}${value} }`;
    })
    .join("");
}

function functionItem(model: WitModel, iface: string, name: string, { params, result }: WitFunction): string {
  const list = params.map(([param, type], index) => {
    const optional = params.slice(index).every(([, later]) => isOption(later)) && isOption(type) ? "?" : "";
    return `${identifier(camel(param))}${optional}: ${typeText(model, iface, type)}`;
  });
  return `  export function ${identifier(camel(name))}(${list.join(", ")}): ${resultText(model, iface, result)};\n`;
}

function isOption(type: TypeRef): boolean {
  return typeof type === "object" && "option" in type;
}

/** A result is returned if it succeeds, and thrown as an Error with the member `payload` if it fails. */
function resultText(model: WitModel, iface: string, result: TypeRef | null): string {
  if (result === null) return "void";
  if (typeof result === "object" && "result" in result) return resultText(model, iface, result.result.ok);
  return typeText(model, iface, result);
}

function typeText(model: WitModel, iface: string, type: TypeRef): string {
  if (typeof type === "string") {
    if (type === "string" || type === "char") return "string";
    if (type === "bool") return "boolean";
    return type === "u64" || type === "s64" ? "bigint" : "number";
  }
  if ("ref" in type) {
    const dot = type.ref.lastIndexOf(".");
    const [owner, name] = [type.ref.slice(0, dot), pascal(type.ref.slice(dot + 1))];
    return owner === iface ? name : `import("${interfaceId(model, owner)}").${name}`;
  }
  if ("list" in type) {
    const item = typeText(model, iface, type.list);
    return item.includes(" ") ? `(${item})[]` : `${item}[]`;
  }
  if ("option" in type) return `${typeText(model, iface, type.option)} | null`;
  if ("tuple" in type) return `[${type.tuple.map((each) => typeText(model, iface, each)).join(", ")}]`;
  return "unknown";
}

/** Words that a function or a parameter of JavaScript can't be called. */
const reserved = new Set([
  "delete",
  "interface",
  "default",
  "new",
  "in",
  "with",
  "function",
  "class",
  "enum",
  "export",
  "import",
]);

function identifier(name: string): string {
  return reserved.has(name) ? `${name}_` : name;
}

function comment(text: string | undefined, indent: string): string {
  if (text === undefined) return "";
  const lines = text.split("\n").map((line) => line.replaceAll("*/", "* /"));
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}\n`).join("")}${indent} */\n`;
}
