// The functions that load and store each named type.

import type { TypeDef, TypeRef } from "../../model.ts";
import type { Layout } from "../layout.ts";
import { camel } from "../names.ts";
import { load, plus, store } from "./memory.ts";
import { definedTypes, typeName } from "./types.ts";

/** The text of the functions that load and store each named type. */
export function namedFunctions(layout: Layout): string {
  return definedTypes(layout.model)
    .map(([reference, definition]) => namedFunction(layout, reference, definition))
    .join("\n");
}

function namedFunction(layout: Layout, reference: string, definition: TypeDef): string {
  const name = typeName(reference);
  if ("record" in definition) {
    const offsets = layout.offsets(definition.record.map(([, type]) => type)).at;
    const place = (index: number) => plus("at", offsets[index] ?? 0);
    const loads = definition.record.map(([field, type], index) => `    ${camel(field)}: ${load(layout, type, place(index))},`);
    const stores = definition.record.map(
      ([field, type], index) => `  ${store(layout, type, place(index), `value.${camel(field)}`)}`,
    );
    return [
      `function load${name}(g: Guest, at: number): ${name} {`,
      "  return {",
      ...loads,
      "  };",
      "}",
      "",
      `function store${name}(g: Guest, at: number, value: ${name}): void {`,
      ...stores,
      "}",
      "",
    ].join("\n");
  }
  if ("enum" in definition) {
    const labels = `labelsOf${name}`;
    const size = layout.discriminant(definition.enum.length);
    return [
      `const ${labels} = ${JSON.stringify(definition.enum)} as const;`,
      "",
      `function lift${name}(g: Guest, value: number): ${name} {`,
      `  return g.label(${labels}, value);`,
      "}",
      "",
      `function load${name}(g: Guest, at: number): ${name} {`,
      `  return g.label(${labels}, g.discriminant(at, ${size}, ${definition.enum.length}));`,
      "}",
      "",
      `function store${name}(g: Guest, at: number, value: ${name}): void {`,
      `  g.storeU${size * 8}(at, ${labels}.indexOf(value));`,
      "}",
      "",
    ].join("\n");
  }
  if ("alias" in definition) {
    return [
      `function load${name}(g: Guest, at: number): ${name} {`,
      `  return ${load(layout, definition.alias, "at")};`,
      "}",
      "",
      `function store${name}(g: Guest, at: number, value: ${name}): void {`,
      `  ${store(layout, definition.alias, "at", "value")}`,
      "}",
      "",
    ].join("\n");
  }
  if ("variant" in definition) return variantFunctions(layout, reference, definition.variant);
  throw new Error(`${name}: flags are not supported by the sandbox's glue yet`);
}

function variantFunctions(layout: Layout, reference: string, cases: readonly (readonly [string, TypeRef | null])[]): string {
  const name = typeName(reference);
  const size = layout.discriminant(cases.length);
  const at = plus("at", layout.payloadOffset({ ref: reference }));
  const loads = cases.map(([label, type], index) => {
    const value = type === null ? "" : `, val: ${load(layout, type, at)}`;
    return `    case ${index}: return { tag: ${JSON.stringify(label)}${value} };`;
  });
  const stores = cases.map(([label, type], index) => {
    const value = type === null ? "" : ` ${store(layout, type, at, "value.val")}`;
    return `    case ${JSON.stringify(label)}: g.storeU${size * 8}(at, ${index});${value} break;`;
  });
  return [
    `function load${name}(g: Guest, at: number): ${name} {`,
    `  switch (g.discriminant(at, ${size}, ${cases.length})) {`,
    ...loads,
    `    default: throw new Error("unreachable: the discriminant was checked");`,
    "  }",
    "}",
    "",
    `function store${name}(g: Guest, at: number, value: ${name}): void {`,
    "  switch (value.tag) {",
    ...stores,
    "  }",
    "}",
    "",
  ].join("\n");
}
