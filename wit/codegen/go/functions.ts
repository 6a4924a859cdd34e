// The Go functions of an imported interface: each stores its parameters, calls the host, and loads the answer.

import type { TypeRef, WitFunction } from "../../model.ts";
import type { Core } from "../layout.ts";
import { type GoInterface, plus } from "./codec.ts";
import { goName, goPackage, goParameter } from "./names.ts";
import { comment, unsupported } from "./types.ts";

const cores: Readonly<Record<Core, string>> = { i32: "uint32", i64: "uint64", f32: "float32", f64: "float64" };

/** The functions of a package, with the host's functions for a delegate and for other programs. */
export interface GoFunctions {
  readonly functions: string;
  readonly inDelegate: string;
  readonly elsewhere: string;
}

/** Generates the functions of an imported interface. */
export function goFunctions(imported: GoInterface): GoFunctions {
  const { id, functions, types } = imported;
  const all = Object.entries(functions).map(([name, definition]) => {
    const { params, byArea, direct, spilled } = types.layout.signature(definition);
    const flat = [...(spilled ? (["i32"] as const) : params), ...(byArea ? (["i32"] as const) : [])];
    const list = flat.map((core, index) => `flat${index} ${cores[core]}`).join(", ");
    const declaration = `func import${goName(name)}(${list})${direct === undefined ? "" : ` ${cores[direct]}`}`;
    return {
      text: functionText(imported, name, definition),
      inDelegate: `//go:wasmimport ${id} ${name}\n${declaration}\n`,
      elsewhere: `${declaration} { panic("plexus: ${goPackage(imported.name)}.${goName(name)} works in a delegate only") }\n`,
    };
  });
  return {
    functions: all.map(({ text }) => text).join("\n"),
    inDelegate: all.map(({ inDelegate }) => inDelegate).join("\n"),
    elsewhere: all.map(({ elsewhere }) => elsewhere).join("\n"),
  };
}

function functionText(imported: GoInterface, name: string, definition: WitFunction): string {
  const { types, codec, docs } = imported;
  const { layout } = types;
  const { spilled, byArea } = layout.signature(definition);
  const list = definition.params.map(([param, type]) => {
    const text = types.text(type);
    return { name: goParameter(param, types.packages), type, text };
  });
  const { at, end } = layout.offsets(list.map(({ type }) => type));
  const lines: string[] = [];
  const flat: string[] = [];
  if (list.length > 0) {
    const alignment = Math.max(...list.map(({ type }) => layout.alignment(type)));
    lines.push(`args := abi.Alloc(${end}, ${alignment})`);
    for (const [index, param] of list.entries()) lines.push(codec.store(param.type, plus("args", at[index] ?? 0), param.name));
    if (spilled) flat.push("args");
    else for (const [index, { type }] of list.entries()) flat.push(...codec.flat(type, "args", at[index] ?? 0));
  }
  const { result } = definition;
  if (byArea && result !== null) {
    lines.push(`area := abi.Alloc(${layout.size(result)}, ${layout.alignment(result)})`);
    flat.push("area");
  }
  const call = `import${goName(name)}(${flat.join(", ")})`;
  const { results, statements } = answer(imported, result, call, byArea);
  const body = [...lines, ...statements].map((line) => `\t${line}\n`).join("");
  const params = list.map((param) => `${param.name} ${param.text}`).join(", ");
  return `${comment(docs.get(`${imported.name}.${name}`), goName(name))}func ${goName(name)}(${params})${results} {\n${body}}\n`;
}

interface Answer {
  readonly results: string;
  readonly statements: readonly string[];
}

/** The results of a function, and the statements that call the host and load them. */
function answer({ types, codec }: GoInterface, result: TypeRef | null, call: string, byArea: boolean): Answer {
  if (result === null) return { results: "", statements: [call] };
  const shape = types.layout.shape(result);
  if (!byArea || shape.kind !== "result" || shape.err === null) throw unsupported(result);
  const payload = plus("area", types.layout.payloadOffset(result));
  const failed = [call, "if abi.LoadU8(area) != 0 {", `\tfault := ${codec.load(shape.err, payload)}`];
  if (shape.ok === null) return { results: " error", statements: [...failed, "\treturn &fault", "}", "return nil"] };
  return {
    results: ` (value ${types.text(shape.ok)}, err error)`,
    statements: [...failed, "\treturn value, &fault", "}", `return ${codec.load(shape.ok, payload)}, nil`],
  };
}
