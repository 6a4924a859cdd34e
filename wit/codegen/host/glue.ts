// Generates the canonical-ABI glue of one ABI version from its WIT model: TypeScript types, and functions that lift
// (guest to host) and lower (host to guest).

import type { WitFunction, WitModel } from "../../model.ts";
import { Layout } from "../layout.ts";
import { camel } from "../names.ts";
import { liftFlat, lowerFlat } from "./flat.ts";
import { load, store } from "./memory.ts";
import { namedFunctions } from "./named.ts";
import { generateTypes, typeText, verbShape } from "./types.ts";

/** The text of the generated module. Throws for a WIT type or form that the glue does not support. */
export function generateGlue(model: WitModel): string {
  const world = model.worlds["delegate"];
  const exported = world?.exports[0];
  if (world === undefined) throw new Error("the WIT model has no world delegate");
  if (exported === undefined || world.exports.length !== 1) throw new Error("the world delegate must export one interface");
  const imported = world.imports.filter((name) => Object.keys(model.interfaces[name]?.functions ?? {}).length > 0);
  const layout = new Layout(model);
  const body = [
    namedFunctions(layout),
    "/** Glue of the functions that a delegate may import, by interface and function. */",
    "export const imports: Readonly<Record<string, Readonly<Record<string, ImportGlue>>>> = {",
    ...imported.map((name) => importedInterface(layout, name)),
    "};",
    "",
    "/** Glue of the functions that a delegate exports. */",
    "export const verbs = {",
    ...Object.entries(model.interfaces[exported]?.functions ?? {}).map(([name, func]) => exportedFunction(layout, name, func)),
    "} as const satisfies Readonly<Record<string, VerbGlue>>;",
  ].join("\n");
  return [
    `// Generated from wit/${model.version}/delegate.wit. Do not edit: run \`node wit/codegen/write.ts\`.`,
    "",
    'import type { Guest, ImportGlue, Outcome, VerbGlue } from "../guest.ts";',
    "",
    generateTypes(model, imported, exported),
    withoutUnused(body),
    "",
  ].join("\n");
}

// Removes unused functions: stores of types that only guests send, and loads of types that only guests receive.
function withoutUnused(text: string): string {
  const dead = /^function (\w+)\(g: Guest,[^]*?^}\n\n?/gm;
  const next = text.replaceAll(dead, (whole, name: string) => (text.split(new RegExp(`\\b${name}\\b`)).length > 2 ? whole : ""));
  return next === text ? text : withoutUnused(next);
}

function importedInterface(layout: Layout, name: string): string {
  const functions = Object.entries(layout.model.interfaces[name]?.functions ?? {});
  return `  ${JSON.stringify(name)}: {\n${functions.map(([func, type]) => importedFunction(layout, func, type)).join("\n")}\n  },`;
}

function importedFunction(layout: Layout, name: string, func: WitFunction): string {
  const { params: flat, spilled, byArea } = layout.signature(func);
  const { result } = func;
  if (spilled) throw new Error(`${name}: parameters through memory are not supported yet`);
  if (result !== null && !byArea) throw new Error(`${name}: a flat result of an import is not supported yet`);
  const names = flat.map((_, index) => `p${index}`);
  const parts = layout.divide(
    func.params.map(([, type]) => type),
    names,
  );
  const lifted = parts.map(([type, own]) => liftFlat(layout, type, own));
  const core = [...flat, ...(byArea ? ["i32"] : [])].join(",");
  const params =
    names.length === 0 ? [] : ["g: Guest", ...names.map((param, at) => `${param}: ${flat[at] === "i64" ? "bigint" : "number"}`)];
  const lines = [
    `    ${JSON.stringify(name)}: {`,
    `      host: ${JSON.stringify(camel(name))},`,
    `      core: "${core}>",`,
    `      lift: (${params.join(", ")}) => [${lifted.join(", ")}],`,
  ];
  if (result !== null) {
    lines.push(
      `      lower(g: Guest, value: ${typeText(result)}, at: number): void {`,
      `        g.range(at, ${layout.size(result)}, ${layout.alignment(result)});`,
      `        ${store(layout, result, "at", "value")}`,
      "      },",
    );
  }
  return [...lines, "    },"].join("\n");
}

function exportedFunction(layout: Layout, name: string, func: WitFunction): string {
  const { param } = verbShape(name, func);
  const { params: flat, spilled, byArea } = layout.signature(func);
  const { result } = func;
  if (result === null || !byArea) throw new Error(`${name}: a flat result is not supported yet`);
  const lower = spilled
    ? [
        `    const at = g.alloc(${layout.size(param)}, ${layout.alignment(param)});`,
        `    ${store(layout, param, "at", "request")}`,
        "    return [at];",
      ]
    : ["    const out: number[] = [];", `    ${lowerFlat(layout, param, "request")}`, "    return out;"];
  return [
    `  ${camel(name)}: {`,
    `    core: "${spilled ? "i32" : flat.join(",")}>i32",`,
    `    lower(g: Guest, request: ${typeText(param)}): number[] {`,
    ...lower.map((line) => `  ${line}`),
    "    },",
    `    lift(g: Guest, at: number): ${typeText(result)} {`,
    `      g.range(at, ${layout.size(result)}, ${layout.alignment(result)});`,
    `      return ${load(layout, result, "at")};`,
    "    },",
    "  },",
  ].join("\n");
}
