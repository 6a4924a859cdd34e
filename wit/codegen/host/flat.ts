// The code that passes a value as core parameters (CanonicalABI.md, "Flat Lifting" and "Flat Lowering").

import type { TypeRef } from "../../model.ts";
import type { Layout } from "../layout.ts";
import { camel } from "../names.ts";
import { definitionOf } from "../shapes.ts";
import { loader, store, suffixOf } from "./memory.ts";
import { typeName } from "./types.ts";

/** An expression that lifts a value from the core parameters `names`. */
export function liftFlat(layout: Layout, use: TypeRef | null, names: readonly string[]): string {
  if (use === null) return "undefined";
  const [first = ""] = names;
  if (typeof use === "string") return `g.lift${suffixOf(use)}(${use === "string" ? names.join(", ") : first})`;
  if ("list" in use) {
    const [size, align] = [layout.size(use.list), layout.alignment(use.list)];
    return `g.liftList(${names.join(", ")}, ${size}, ${align}, ${loader(layout, use.list)})`;
  }
  if ("option" in use) return `(g.liftCase(${first}, 2) === 0 ? undefined : ${liftFlat(layout, use.option, names.slice(1))})`;
  if ("result" in use) throw new Error("a result as a parameter is not supported by the sandbox's glue yet");
  if ("tuple" in use) return `[${liftFields(layout, use.tuple, names).join(", ")}]`;
  const definition = definitionOf(layout.model, use.ref);
  if ("alias" in definition) return liftFlat(layout, definition.alias, names);
  if ("enum" in definition) return `lift${typeName(use.ref)}(g, ${first})`;
  if (!("record" in definition)) throw new Error(`${use.ref} as a parameter is not supported by the sandbox's glue yet`);
  const values = liftFields(
    layout,
    definition.record.map(([, type]) => type),
    names,
  );
  return `{ ${definition.record.map(([name], index) => `${camel(name)}: ${values[index]}`).join(", ")} }`;
}

function liftFields(layout: Layout, fields: readonly TypeRef[], names: readonly string[]): readonly string[] {
  return layout.divide(fields, names).map(([field, own]) => liftFlat(layout, field, own));
}

/** Statements that push the core parameters of a value onto `out`. */
export function lowerFlat(layout: Layout, use: TypeRef, value: string): string {
  if (typeof use === "string") return `g.lower${suffixOf(use)}(${value}, out);`;
  if ("list" in use) {
    const [size, align] = [layout.size(use.list), layout.alignment(use.list)];
    return `g.lowerList(${value}, ${size}, ${align}, out, (e, v) => { ${store(layout, use.list, "e", "v")} });`;
  }
  if ("option" in use) {
    const zeros = layout.flatten(use.option).map(() => "0");
    return `if (${value} === undefined) out.push(0, ${zeros.join(", ")}); else { out.push(1); ${lowerFlat(layout, use.option, value)} }`;
  }
  if ("tuple" in use) return use.tuple.map((type, index) => lowerFlat(layout, type, `${value}[${index}]`)).join(" ");
  if ("result" in use) throw new Error("a result as a parameter is not supported by the sandbox's glue yet");
  const definition = definitionOf(layout.model, use.ref);
  if ("alias" in definition) return lowerFlat(layout, definition.alias, value);
  if ("enum" in definition) return `out.push(lower${typeName(use.ref)}(${value}));`;
  if (!("record" in definition)) throw new Error(`${use.ref} as a parameter is not supported by the sandbox's glue yet`);
  return definition.record.map(([name, type]) => lowerFlat(layout, type, `${value}.${camel(name)}`)).join("\n    ");
}
