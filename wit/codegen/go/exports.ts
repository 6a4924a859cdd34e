// The Go side of the exported interface: the interface that an author implements, and the functions that the host calls.

import type { WitFunction } from "../../model.ts";
import { type GoInterface, plus } from "./codec.ts";
import { goName } from "./names.ts";
import { comment, type GoTypes, unsupported } from "./types.ts";

/** The interface `Plugin`, and the text of the functions that the host calls. */
export interface GoExports {
  readonly plugin: string;
  readonly functions: string;
}

/** Generates both for an exported interface. */
export function goExports(exported: GoInterface): GoExports {
  const { name: iface, functions, types, docs } = exported;
  const methods = Object.entries(functions).map(([name, definition]) => {
    const params = definition.params.map(([param, type]) => `${param} ${types.text(type)}`).join(", ");
    const doc = comment(docs.get(`${iface}.${name}`), goName(name), "\t");
    return `${doc}\t${goName(name)}(${params}) ${resultText(definition, types)}\n`;
  });
  const plugin = `${comment(docs.get(iface), goName(iface))}type ${goName(iface)} interface {\n${methods.join("")}}\n`;
  const all = Object.entries(functions).map(([name, definition]) => exportText(exported, name, definition));
  return { plugin, functions: all.join("\n") };
}

function resultText({ result }: WitFunction, types: GoTypes): string {
  const shape = result === null ? undefined : types.layout.shape(result);
  if (shape?.kind !== "result" || shape.err === null) throw unsupported(result ?? "bool");
  return shape.ok === null ? "error" : `(${types.text(shape.ok)}, error)`;
}

function exportText({ id, name: iface, types, codec }: GoInterface, name: string, definition: WitFunction): string {
  const { layout } = types;
  const { params, spilled } = layout.signature(definition);
  const { result } = definition;
  const shape = result === null ? undefined : layout.shape(result);
  const list = definition.params.map(([, type]) => type);
  if (result === null || shape?.kind !== "result" || shape.err === null) throw unsupported(result ?? "bool");
  const { at, end } = layout.offsets(list);
  const lines: string[] = [];
  const base = spilled ? "flat0" : "args";
  if (!spilled) {
    lines.push(`args := abi.Alloc(${end}, ${Math.max(...list.map((type) => layout.alignment(type)))})`);
    let first = 0;
    for (const [index, type] of list.entries()) {
      lines.push(...codec.unflatten(type, "args", at[index] ?? 0, first));
      first += layout.flatten(type).length;
    }
  }
  const args = list.map((type, index) => codec.load(type, plus(base, at[index] ?? 0))).join(", ");
  const payload = plus("area", layout.payloadOffset(result));
  lines.push(
    `${shape.ok === null ? "err" : "value, err"} := exported().${goName(name)}(${args})`,
    `area := abi.Alloc(${layout.size(result)}, ${layout.alignment(result)})`,
    "if err != nil {",
    "\tabi.StoreU8(area, 1)",
    `\t${codec.store(shape.err, payload, "FaultOf(err)")}`,
  );
  if (shape.ok !== null) lines.push("} else {", `\t${codec.store(shape.ok, payload, "value")}`);
  lines.push("}", "abi.Flush()", "return area");
  const flat = (spilled ? ["i32"] : params).map((core, index) => `flat${index} ${core === "i64" ? "uint64" : "uint32"}`);
  return `//go:wasmexport ${id}#${name}
func export${goName(iface)}${goName(name)}(${flat.join(", ")}) uint32 {
${lines.map((line) => `\t${line}\n`).join("")}}

//go:wasmexport cabi_post_${id}#${name}
func post${goName(iface)}${goName(name)}(area uint32) { abi.Release() }
`;
}
