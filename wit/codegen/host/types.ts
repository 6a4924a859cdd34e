// Generates TypeScript types for the WIT model: records in camelCase, `undefined` for an absent option, `{ok}|{err}` for results,
// `{tag, val}` for variants (as in jco).

import type { TypeDef, TypeRef, WitFunction, WitModel } from "../../model.ts";
import { camel, pascal } from "../names.ts";

/** The TypeScript name of a named type. Types of other interfaces than `types` have the interface's name as a prefix. */
export function typeName(reference: string): string {
  const dot = reference.lastIndexOf(".");
  const owner = reference.slice(0, dot);
  return (owner === "types" ? "" : pascal(owner)) + pascal(reference.slice(dot + 1));
}

/** The TypeScript text for a use of a type. */
export function typeText(use: TypeRef | null): string {
  if (use === null) return "undefined";
  if (typeof use === "string") return use === "string" || use === "char" ? "string" : use === "bool" ? "boolean" : "number";
  if ("ref" in use) return typeName(use.ref);
  if ("list" in use) return `readonly ${grouped(typeText(use.list))}[]`;
  if ("option" in use) return `${typeText(use.option)} | undefined`;
  if ("tuple" in use) return `readonly [${use.tuple.map(typeText).join(", ")}]`;
  return `Outcome<${typeText(use.result.ok)}, ${typeText(use.result.err)}>`;
}

function grouped(text: string): string {
  return text.includes(" ") ? `(${text})` : text;
}

/** The types that each interface defines, without the types that it only uses. */
export function definedTypes(model: WitModel): readonly (readonly [reference: string, definition: TypeDef])[] {
  return Object.entries(model.interfaces).flatMap(([name, { types }]) =>
    Object.entries(types)
      .filter(([, definition]) => !("alias" in definition && typeof definition.alias === "object" && "ref" in definition.alias))
      .map(([type, definition]) => [`${name}.${type}`, definition] as const),
  );
}

/** The text of all types, of the capabilities' interfaces and of the verbs' types. */
export function generateTypes(model: WitModel, imported: readonly string[], exported: string): string {
  const types = definedTypes(model).map(
    ([reference, definition]) => `/** The WIT type \`${reference}\`. */\n${generateType(typeName(reference), definition)}`,
  );
  const capabilities = imported.map((name) => {
    const functions = Object.entries(model.interfaces[name]?.functions ?? {}).map(
      ([func, type]) => `  ${camel(func)}${signatureText(type)};\n`,
    );
    return `/** Capability \`${name}\`. */\nexport interface ${pascal(name)}Capability {\n${functions.join("")}}\n`;
  });
  const entries = imported.map((name) => `  readonly ${camel(name)}: ${pascal(name)}Capability;\n`);
  const verbs = Object.entries(model.interfaces[exported]?.functions ?? {}).map(([name, func]) => verbText(name, func));
  return [
    ...types,
    ...capabilities,
    `/** Every capability of this ABI version. */\nexport interface Capabilities {\n${entries.join("")}}\n`,
    `/** The request, the success and the failure of each verb. */\nexport interface VerbTypes {\n${verbs.join("")}}\n`,
  ].join("\n");
}

function generateType(name: string, definition: TypeDef): string {
  if ("record" in definition) {
    const fields = definition.record.map(([field, type]) => {
      const optional = typeof type === "object" && "option" in type;
      return `  readonly ${camel(field)}${optional ? "?" : ""}: ${typeText(type)};\n`;
    });
    return `export interface ${name} {\n${fields.join("")}}\n`;
  }
  if ("enum" in definition)
    return `export type ${name} = ${definition.enum.map((label) => JSON.stringify(label)).join(" | ")};\n`;
  if ("alias" in definition) return `export type ${name} = ${typeText(definition.alias)};\n`;
  if ("variant" in definition) {
    const cases = definition.variant.map(([label, payload]) => {
      const value = payload === null ? "" : `; readonly val: ${typeText(payload)}`;
      return `\n  | { readonly tag: ${JSON.stringify(label)}${value} }`;
    });
    return `export type ${name} =${cases.join("")};\n`;
  }
  throw new Error(`${name}: flags are not supported by the sandbox's glue yet`);
}

function signatureText(func: WitFunction): string {
  const params = func.params.map(([name, type]) => `${camel(name)}: ${typeText(type)}`);
  return `(${params.join(", ")}): ${func.result === null ? "void" : typeText(func.result)}`;
}

function verbText(name: string, func: WitFunction): string {
  const { param, ok, err } = verbShape(name, func);
  return `  readonly ${camel(name)}: { readonly request: ${typeText(param)}; readonly success: ${typeText(ok)}; readonly failure: ${typeText(err)} };\n`;
}

/** The types of a verb. Throws unless the verb has one parameter and a result with an error. */
export function verbShape(
  name: string,
  func: WitFunction,
): { readonly param: TypeRef; readonly ok: TypeRef | null; readonly err: TypeRef } {
  const [param] = func.params;
  const { result } = func;
  if (param === undefined || func.params.length !== 1) throw new Error(`verb ${name} must take one parameter`);
  if (result === null || typeof result === "string" || !("result" in result) || result.result.err === null) {
    throw new Error(`verb ${name} must answer a result with an error`);
  }
  return { param: param[1], ok: result.result.ok, err: result.result.err };
}
