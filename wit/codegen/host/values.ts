// Generates the code for single values: load and store (in memory), lift and lower (core parameters).

import type { TypeDef, TypeRef, WitModel } from "../../model.ts";
import { camel, definedTypes, typeName } from "./types.ts";
import { definitionOf, discriminantSize, layoutOf, recordLayout, variantLayout } from "./layout.ts";

const plus = (at: string, offset: number): string => (offset === 0 ? at : `${at} + ${offset}`);

/** An expression that loads a value of the type from `at`. */
export function load(model: WitModel, use: TypeRef | null, at: string): string {
  if (use === null) return "undefined";
  if (typeof use === "string") return use === "string" ? `g.loadString(${at})` : `g.${use}(${at})`;
  if ("ref" in use) return `load${typeName(use.ref)}(g, ${at})`;
  if ("list" in use) {
    const { size, align } = layoutOf(model, use.list);
    return `g.loadList(${at}, ${size}, ${align}, ${loader(model, use.list)})`;
  }
  if ("option" in use) {
    const { payload } = variantLayout(model, [null, use.option]);
    return `(g.discriminant(${at}, 1, 2) === 0 ? undefined : ${load(model, use.option, plus(at, payload))})`;
  }
  if ("result" in use) {
    const { ok, err } = use.result;
    const inner = plus(at, variantLayout(model, [ok, err]).payload);
    return `(g.discriminant(${at}, 1, 2) === 0 ? { ok: ${load(model, ok, inner)} } : { err: ${load(model, err, inner)} })`;
  }
  const { offsets } = recordLayout(model, use.tuple);
  return `[${use.tuple.map((type, index) => load(model, type, plus(at, offsets[index] ?? 0))).join(", ")}]`;
}

/** A statement that stores the value `value` at `at`. */
export function store(model: WitModel, use: TypeRef | null, at: string, value: string): string {
  if (use === null) return "";
  if (typeof use === "string") return `g.store${use.charAt(0).toUpperCase()}${use.slice(1)}(${at}, ${value});`;
  if ("ref" in use) return `store${typeName(use.ref)}(g, ${at}, ${value});`;
  if ("list" in use) {
    const { size, align } = layoutOf(model, use.list);
    return `g.storeList(${at}, ${value}, ${size}, ${align}, (e, v) => { ${store(model, use.list, "e", "v")} });`;
  }
  if ("option" in use) {
    const inner = plus(at, variantLayout(model, [null, use.option]).payload);
    return `if (${value} === undefined) g.storeU8(${at}, 0); else { g.storeU8(${at}, 1); ${store(model, use.option, inner, value)} }`;
  }
  if ("result" in use) {
    const { ok, err } = use.result;
    const inner = plus(at, variantLayout(model, [ok, err]).payload);
    const storeOk = `g.storeU8(${at}, 0); ${store(model, ok, inner, `${value}.ok`)}`;
    return `if ("err" in ${value}) { g.storeU8(${at}, 1); ${store(model, err, inner, `${value}.err`)} } else { ${storeOk} }`;
  }
  const { offsets } = recordLayout(model, use.tuple);
  return use.tuple.map((type, index) => store(model, type, plus(at, offsets[index] ?? 0), `${value}[${index}]`)).join(" ");
}

/** An expression that lifts a value from the core parameters `names`. */
export function liftFlat(model: WitModel, use: TypeRef | null, names: readonly string[]): string {
  if (use === null) return "undefined";
  const [first = ""] = names;
  if (typeof use === "string")
    return use === "string"
      ? `g.liftString(${names.join(", ")})`
      : `g.lift${use.charAt(0).toUpperCase()}${use.slice(1)}(${first})`;
  if ("list" in use) {
    const { size, align } = layoutOf(model, use.list);
    return `g.liftList(${names.join(", ")}, ${size}, ${align}, ${loader(model, use.list)})`;
  }
  if ("option" in use) return `(g.liftCase(${first}, 2) === 0 ? undefined : ${liftFlat(model, use.option, names.slice(1))})`;
  if ("result" in use) throw new Error("a result as a parameter is not supported by the sandbox's glue yet");
  if ("tuple" in use) return `[${liftFields(model, use.tuple, names).join(", ")}]`;
  const definition = definitionOf(model, use.ref);
  if ("alias" in definition) return liftFlat(model, definition.alias, names);
  if ("enum" in definition) return `lift${typeName(use.ref)}(g, ${first})`;
  if (!("record" in definition)) throw new Error(`${use.ref} as a parameter is not supported by the sandbox's glue yet`);
  const values = liftFields(
    model,
    definition.record.map(([, type]) => type),
    names,
  );
  return `{ ${definition.record.map(([name], index) => `${camel(name)}: ${values[index]}`).join(", ")} }`;
}

function liftFields(model: WitModel, fields: readonly TypeRef[], names: readonly string[]): readonly string[] {
  let next = 0;
  return fields.map((field) => {
    const width = layoutOf(model, field).flat.length;
    next += width;
    return liftFlat(model, field, names.slice(next - width, next));
  });
}

/** Statements that push the core parameters of a value onto `out`. */
export function lowerFlat(model: WitModel, use: TypeRef, value: string): string {
  if (typeof use === "string")
    return use === "string"
      ? `g.lowerString(${value}, out);`
      : `g.lower${use.charAt(0).toUpperCase()}${use.slice(1)}(${value}, out);`;
  if ("list" in use) {
    const { size, align } = layoutOf(model, use.list);
    return `g.lowerList(${value}, ${size}, ${align}, out, (e, v) => { ${store(model, use.list, "e", "v")} });`;
  }
  if ("option" in use) {
    const zeros = layoutOf(model, use.option).flat.map(() => "0");
    return `if (${value} === undefined) out.push(0, ${zeros.join(", ")}); else { out.push(1); ${lowerFlat(model, use.option, value)} }`;
  }
  if ("tuple" in use) return use.tuple.map((type, index) => lowerFlat(model, type, `${value}[${index}]`)).join(" ");
  if ("result" in use) throw new Error("a result as a parameter is not supported by the sandbox's glue yet");
  const definition = definitionOf(model, use.ref);
  if ("alias" in definition) return lowerFlat(model, definition.alias, value);
  if ("enum" in definition) return `out.push(lower${typeName(use.ref)}(${value}));`;
  if (!("record" in definition)) throw new Error(`${use.ref} as a parameter is not supported by the sandbox's glue yet`);
  return definition.record.map(([name, type]) => lowerFlat(model, type, `${value}.${camel(name)}`)).join("\n    ");
}

function loader(model: WitModel, use: TypeRef): string {
  return typeof use === "object" && "ref" in use ? `load${typeName(use.ref)}` : `(_, e) => ${load(model, use, "e")}`;
}

/** The text of the functions that load and store each named type. */
export function namedFunctions(model: WitModel): string {
  return definedTypes(model)
    .map(([reference, definition]) => namedFunction(model, typeName(reference), definition))
    .join("\n");
}

function namedFunction(model: WitModel, name: string, definition: TypeDef): string {
  if ("record" in definition) {
    const { offsets } = recordLayout(
      model,
      definition.record.map(([, type]) => type),
    );
    const place = (index: number) => plus("at", offsets[index] ?? 0);
    const loads = definition.record.map(([field, type], index) => `    ${camel(field)}: ${load(model, type, place(index))},`);
    const stores = definition.record.map(
      ([field, type], index) => `  ${store(model, type, place(index), `value.${camel(field)}`)}`,
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
    const size = discriminantSize(definition.enum.length);
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
      `  return ${load(model, definition.alias, "at")};`,
      "}",
      "",
      `function store${name}(g: Guest, at: number, value: ${name}): void {`,
      `  ${store(model, definition.alias, "at", "value")}`,
      "}",
      "",
    ].join("\n");
  }
  if ("variant" in definition) return variantFunctions(model, name, definition.variant);
  throw new Error(`${name}: flags are not supported by the sandbox's glue yet`);
}

function variantFunctions(model: WitModel, name: string, cases: readonly (readonly [string, TypeRef | null])[]): string {
  const { payload } = variantLayout(
    model,
    cases.map(([, type]) => type),
  );
  const size = discriminantSize(cases.length);
  const at = plus("at", payload);
  const loads = cases.map(([label, type], index) => {
    const value = type === null ? "" : `, val: ${load(model, type, at)}`;
    return `    case ${index}: return { tag: ${JSON.stringify(label)}${value} };`;
  });
  const stores = cases.map(([label, type], index) => {
    const value = type === null ? "" : ` ${store(model, type, at, "value.val")}`;
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
