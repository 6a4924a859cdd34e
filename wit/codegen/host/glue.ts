// Generates the canonical-ABI glue of one ABI version from its WIT model: TypeScript types, and functions that lift
// (guest to host) and lower (host to guest).

import type { WitFunction, WitModel } from "../../model.ts";
import { camel, generateTypes, typeText, verbShape } from "./types.ts";
import { liftFlat, load, lowerFlat, namedFunctions, store } from "./values.ts";
import { layoutOf, maxFlatParameters, recordLayout } from "./layout.ts";

/** The text of the generated module. Throws for a WIT type or form that the glue does not support. */
export function generateGlue(model: WitModel): string {
  const world = model.worlds["delegate"];
  const exported = world?.exports[0];
  if (world === undefined) throw new Error("the WIT model has no world delegate");
  if (exported === undefined || world.exports.length !== 1) throw new Error("the world delegate must export one interface");
  const imported = world.imports.filter((name) => Object.keys(model.interfaces[name]?.functions ?? {}).length > 0);
  const body = [
    namedFunctions(model),
    "/** Glue of the functions that a delegate may import, by interface and function. */",
    "export const imports: Readonly<Record<string, Readonly<Record<string, ImportGlue>>>> = {",
    ...imported.map((name) => importedInterface(model, name)),
    "};",
    "",
    "/** Glue of the functions that a delegate exports. */",
    "export const verbs = {",
    ...Object.entries(model.interfaces[exported]?.functions ?? {}).map(([name, func]) => exportedFunction(model, name, func)),
    "} as const satisfies Readonly<Record<string, VerbGlue>>;",
  ].join("\n");
  return [
    `// Generated from wit/${model.version}/model.json by host/sandbox/abi/build.ts. Do not edit.`,
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

function importedInterface(model: WitModel, name: string): string {
  const functions = Object.entries(model.interfaces[name]?.functions ?? {});
  return `  ${JSON.stringify(name)}: {\n${functions.map(([func, type]) => importedFunction(model, func, type)).join("\n")}\n  },`;
}

function importedFunction(model: WitModel, name: string, func: WitFunction): string {
  const types = func.params.map(([, type]) => type);
  const { layout } = recordLayout(model, types);
  if (layout.flat.length > maxFlatParameters) throw new Error(`${name}: parameters through memory are not supported yet`);
  const names = layout.flat.map((_, index) => `p${index}`);
  let next = 0;
  const lifted = types.map((type) => {
    const width = layoutOf(model, type).flat.length;
    next += width;
    return liftFlat(model, type, names.slice(next - width, next));
  });
  const { result } = func;
  const through = result === null ? undefined : layoutOf(model, result);
  if (through !== undefined && through.flat.length < 2)
    throw new Error(`${name}: a flat result of an import is not supported yet`);
  const core = [...layout.flat, ...(through === undefined ? [] : ["i32"])].join(",");
  const params = names.length === 0 ? [] : ["g: Guest", ...names.map((param) => `${param}: number`)];
  const lines = [
    `    ${JSON.stringify(name)}: {`,
    `      host: ${JSON.stringify(camel(name))},`,
    `      core: "${core}>",`,
    `      lift: (${params.join(", ")}) => [${lifted.join(", ")}],`,
  ];
  if (result !== null && through !== undefined) {
    lines.push(
      `      lower(g: Guest, value: ${typeText(result)}, at: number): void {`,
      `        g.range(at, ${through.size}, ${through.align});`,
      `        ${store(model, result, "at", "value")}`,
      "      },",
    );
  }
  return [...lines, "    },"].join("\n");
}

function exportedFunction(model: WitModel, name: string, func: WitFunction): string {
  const { param } = verbShape(name, func);
  const flat = layoutOf(model, param);
  const through = flat.flat.length > maxFlatParameters;
  const { result } = func;
  const answer = layoutOf(model, result ?? "u32");
  if (answer.flat.length < 2) throw new Error(`${name}: a flat result is not supported yet`);
  const lower = through
    ? [`    const at = g.alloc(${flat.size}, ${flat.align});`, `    ${store(model, param, "at", "request")}`, "    return [at];"]
    : ["    const out: number[] = [];", `    ${lowerFlat(model, param, "request")}`, "    return out;"];
  return [
    `  ${camel(name)}: {`,
    `    core: "${through ? "i32" : flat.flat.join(",")}>i32",`,
    `    lower(g: Guest, request: ${typeText(param)}): number[] {`,
    ...lower.map((line) => `  ${line}`),
    "    },",
    `    lift(g: Guest, at: number): ${typeText(result)} {`,
    `      g.range(at, ${answer.size}, ${answer.align});`,
    `      return ${load(model, result, "at")};`,
    "    },",
    "  },",
  ].join("\n");
}
