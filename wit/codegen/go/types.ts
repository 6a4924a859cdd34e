// WIT types as Go types.
//
//   option<T>        *T
//   list<T>          []T
//   record           a struct
//   enum             a uint8 with constants and String()
//   variant          an interface, and a struct for each case
//   result<T, fault> (T, error), as a function's result only

import type { Primitive, TypeDef, TypeRef } from "../../model.ts";
import type { Layout } from "../layout.ts";
import { goName, goPackage, splitRef } from "./names.ts";

export const goPrimitives: Readonly<Record<Exclude<Primitive, "string" | "char">, string>> = {
  bool: "bool",
  u8: "uint8",
  s8: "int8",
  u16: "uint16",
  s16: "int16",
  u32: "uint32",
  s32: "int32",
  u64: "uint64",
  s64: "int64",
  f32: "float32",
  f64: "float64",
};

/** The error for a type that the contract does not have yet. */
export function unsupported(type: TypeRef): Error {
  return new Error(`the bindings for Go do not support ${JSON.stringify(type)}`);
}

/** Spells types for one package, and collects the packages that the spelling needs. */
export class GoTypes {
  readonly layout: Layout;
  readonly #iface: string;
  readonly packages = new Set<string>();

  constructor(layout: Layout, iface: string) {
    this.layout = layout;
    this.#iface = iface;
  }

  /** The Go type of a WIT type. */
  text(type: TypeRef): string {
    const shape = this.layout.shape(type);
    switch (shape.kind) {
      case "primitive":
        if (shape.primitive === "char") throw unsupported(type);
        return goPrimitives[shape.primitive];
      case "string":
        return "string";
      case "list":
        return `[]${this.text(shape.element)}`;
      case "option":
        return `*${this.text(shape.inner)}`;
      case "record":
      case "variant":
      case "enum":
        return this.named(shape.name);
      default:
        throw unsupported(type);
    }
  }

  /** The name of a named type, with its package unless the package is this one. `of`: the name of a case of a variant. */
  named(ref: string, of = ""): string {
    const [owner, name] = splitRef(ref);
    if (goPackage(owner) === goPackage(this.#iface)) return goName(name) + of;
    this.packages.add(goPackage(owner));
    return `${goPackage(owner)}.${goName(name)}${of}`;
  }
}

/** The declaration of a named type; empty for the `use` of another interface's. `docs`: comments by path. */
export function typeDeclaration(
  types: GoTypes,
  iface: string,
  name: string,
  def: TypeDef,
  docs: ReadonlyMap<string, string>,
): string {
  const at = `${iface}.${name}`;
  const title = goName(name);
  const doc = comment(docs.get(at), title);
  if ("alias" in def)
    return typeof def.alias === "object" && "ref" in def.alias ? "" : `${doc}type ${title} = ${types.text(def.alias)}\n\n`;
  if ("record" in def) {
    const fields = def.record.map(
      ([field, type]) => `${comment(docs.get(`${at}.${field}`), undefined, "\t")}\t${goName(field)} ${types.text(type)}\n`,
    );
    return `${doc}type ${title} struct {\n${fields.join("")}}\n\n`;
  }
  if ("enum" in def) return doc + enumDeclaration(title, def.enum);
  if ("variant" in def) {
    const cases = def.variant.map(([label, payload]) => {
      const own = `${title}${goName(label)}`;
      const value = payload === null ? "" : ` Value ${types.text(payload)} `;
      return `${comment(docs.get(`${at}.${label}`), own)}type ${own} struct {${value}}\n\nfunc (${own}) is${title}() {}\n\n`;
    });
    return `${doc}type ${title} interface{ is${title}() }\n\n${cases.join("")}`;
  }
  throw new Error(`the bindings for Go do not support the type ${at}`);
}

function enumDeclaration(title: string, labels: readonly string[]): string {
  const constants = labels.map((label, index) => `\t${title}${goName(label)} ${title} = ${index}\n`);
  const names = labels.map((label) => JSON.stringify(label)).join(", ");
  const names_ = `${title.slice(0, 1).toLowerCase()}${title.slice(1)}Names`;
  return `type ${title} uint8

const (
${constants.join("")})

var ${names_} = [...]string{${names}}

// String answers the name in the contract.
func (value ${title}) String() string {
	if int(value) < len(${names_}) {
		return ${names_}[value]
	}
	return "unknown"
}

`;
}

/** A comment's lines. Go's tools expect a comment of an exported name to begin with the name. */
export function comment(text: string | undefined, name: string | undefined, indent = ""): string {
  if (text === undefined || text === "") return "";
  const lines = `${name === undefined ? "" : `${name}: `}${text}`.split("\n");
  return lines.map((line) => `${indent}//${line === "" ? "" : ` ${line}`}\n`).join("");
}
