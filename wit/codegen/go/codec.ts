// Go code that stores values in linear memory and loads them, in the layout of the canonical ABI. Each package has private functions for the named types that it
// uses, also for those of other packages.

import type { TypeRef, WitInterface, WitModel } from "../../model.ts";
import { interfaceId, type Shape } from "../shapes.ts";
import { goName, splitRef } from "./names.ts";
import { type GoTypes, goPrimitives, unsupported } from "./types.ts";

/** An interface of the contract, with the generators of its Go text. */
export interface GoInterface {
  /** The name in the contract, for example `leases`. */
  readonly name: string;
  /** The name that core modules import: `cni:delegate/leases@1.1.0`. */
  readonly id: string;
  readonly functions: WitInterface["functions"];
  /** The types and the codec of the package that gets the text. */
  readonly types: GoTypes;
  readonly codec: GoCodec;
  /** The contract's comments by the names of what they describe. */
  readonly docs: ReadonlyMap<string, string>;
}

/** The interface `name` of the model, for the package that has these types. */
export function goInterface(model: WitModel, name: string, types: GoTypes, docs: ReadonlyMap<string, string>): GoInterface {
  const found = model.interfaces[name];
  if (found === undefined) throw new Error(`the model has no interface ${name}`);
  return { name, id: interfaceId(model, name), functions: found.functions, types, codec: new GoCodec(types), docs };
}

/** Generates the functions of one package. */
export class GoCodec {
  readonly #types: GoTypes;
  readonly #texts = new Map<string, string>();

  constructor(types: GoTypes) {
    this.#types = types;
  }

  /** The text of all functions that were asked for. */
  file(): string {
    return [...this.#texts.entries()]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([, text]) => text)
      .join("\n");
  }

  /** An expression of the function that stores a value: `func(at uint32, value T)`. */
  storer(type: TypeRef): string {
    const shape = this.#types.layout.shape(type);
    switch (shape.kind) {
      case "primitive":
        return `abi.Store${primitive(type, shape)}`;
      case "string":
        return "abi.StoreString";
      case "enum":
        return `abi.StoreEnum[${this.#types.named(shape.name)}]`;
      case "record":
      case "variant":
        return this.#named("store", shape);
      default:
        return `func(at uint32, value ${this.#types.text(type)}) { ${this.store(type, "at", "value")} }`;
    }
  }

  /** An expression of the function that loads a value: `func(at uint32) T`. */
  loader(type: TypeRef): string {
    const shape = this.#types.layout.shape(type);
    switch (shape.kind) {
      case "primitive":
        return `abi.Load${primitive(type, shape)}`;
      case "string":
        return "abi.LoadString";
      case "enum":
        return `abi.LoadEnum[${this.#types.named(shape.name)}]`;
      case "record":
      case "variant":
        return this.#named("load", shape);
      default:
        return `func(at uint32) ${this.#types.text(type)} { return ${this.load(type, "at")} }`;
    }
  }

  /** A statement that stores `value` at `at`. */
  store(type: TypeRef, at: string, value: string): string {
    const { layout } = this.#types;
    const shape = layout.shape(type);
    if (shape.kind === "list") {
      const { element } = shape;
      return `abi.StoreList(${at}, ${value}, ${layout.size(element)}, ${layout.alignment(element)}, ${this.storer(element)})`;
    }
    if (shape.kind === "option")
      return `abi.StoreOption(${at}, ${value}, ${layout.payloadOffset(type)}, ${this.storer(shape.inner)})`;
    return `${this.storer(type)}(${at}, ${value})`;
  }

  /** An expression that loads the value at `at`. */
  load(type: TypeRef, at: string): string {
    const { layout } = this.#types;
    const shape = layout.shape(type);
    if (shape.kind === "list") return `abi.LoadList(${at}, ${layout.size(shape.element)}, ${this.loader(shape.element)})`;
    if (shape.kind === "option") return `abi.LoadOption(${at}, ${layout.payloadOffset(type)}, ${this.loader(shape.inner)})`;
    return `${this.loader(type)}(${at})`;
  }

  /** The flat values of a stored value, as expressions. Memory of absent payloads is zero, as the flat form requires. */
  flat(type: TypeRef, base: string, offset: number): readonly string[] {
    const { layout } = this.#types;
    const shape = layout.shape(type);
    const items = (list: readonly TypeRef[]) => {
      const { at } = layout.offsets(list);
      return list.flatMap((each, index) => this.flat(each, base, offset + (at[index] ?? 0)));
    };
    switch (shape.kind) {
      case "primitive":
        return [flatPrimitive(type, shape, `${base}+${offset}`)];
      case "string":
      case "list":
        return [`abi.LoadU32(${base}+${offset})`, `abi.LoadU32(${base}+${offset + 4})`];
      case "record":
        return items(shape.fields.map(([, field]) => field));
      case "enum":
        return [`uint32(abi.LoadU8(${base}+${offset}))`];
      case "option":
        return [`uint32(abi.LoadU8(${base}+${offset}))`, ...this.flat(shape.inner, base, offset + layout.payloadOffset(type))];
      default:
        throw unsupported(type);
    }
  }

  /** Statements that store flat values, named `flat0`, `flat1` and so on from `first`, as `flat` reads them. */
  unflatten(type: TypeRef, base: string, offset: number, first: number): readonly string[] {
    return this.flat(type, base, offset).map((text, index) => {
      const [, kind = "", at = ""] = /abi\.Load(\w+)\(([^)]*)\)/.exec(text) ?? [];
      const given = `flat${first + index}`;
      const value =
        kind === "Bool" ? `${given} != 0` : `${goPrimitives[kind.toLowerCase() as "u8"] ?? kind.toLowerCase()}(${given})`;
      return `abi.Store${kind}(${at}, ${value})`;
    });
  }

  #named(action: "store" | "load", shape: Shape & { readonly kind: "record" | "variant" }): string {
    const [owner, own] = splitRef(shape.name);
    const name = `${action}${goName(owner)}${goName(own)}`;
    if (this.#texts.has(name)) return name;
    // Before the text, which may name the type again.
    this.#texts.set(name, "");
    this.#texts.set(name, shape.kind === "record" ? this.#record(action, name, shape) : this.#variant(action, name, shape));
    return name;
  }

  #record(action: "store" | "load", name: string, { name: ref, fields }: Shape & { readonly kind: "record" }): string {
    const title = this.#types.named(ref);
    const { at } = this.#types.layout.offsets(fields.map(([, type]) => type));
    const each = fields.map(([field, type], index) => ({ field: goName(field), type, at: plus("at", at[index] ?? 0) }));
    if (action === "store") {
      const lines = each.map(({ field, type, at: place }) => `\t${this.store(type, place, `value.${field}`)}\n`);
      return `func ${name}(at uint32, value ${title}) {\n${lines.join("")}}\n`;
    }
    const lines = each.map(({ field, type, at: place }) => `\t\t${field}: ${this.load(type, place)},\n`);
    return `func ${name}(at uint32) ${title} {\n\treturn ${title}{\n${lines.join("")}\t}\n}\n`;
  }

  #variant(action: "store" | "load", name: string, { name: ref, cases }: Shape & { readonly kind: "variant" }): string {
    const title = this.#types.named(ref);
    const payloadAt = plus("at", this.#types.layout.payloadOffset({ ref }));
    const each = cases.map(([label, payload], index) => ({ title: this.#types.named(ref, goName(label)), payload, index }));
    if (action === "store") {
      const branches = each.map(({ title: own, payload, index }) => {
        const store = payload === null ? "" : `\t\t${this.store(payload, payloadAt, "each.Value")}\n`;
        return `\tcase ${own}:\n\t\tabi.StoreU8(at, ${index})\n${store}`;
      });
      const used = cases.some(([, payload]) => payload !== null) ? "each := " : "";
      return `func ${name}(at uint32, value ${title}) {
	switch ${used}value.(type) {
${branches.join("")}	default:
		panic("plexus: a value of the type ${title} is nil")
	}
}
`;
    }
    const branches = each.map(({ title: own, payload, index }) => {
      const value = payload === null ? "" : `Value: ${this.load(payload, payloadAt)}`;
      return `\tcase ${index}:\n\t\treturn ${own}{${value}}\n`;
    });
    return `func ${name}(at uint32) ${title} {
	switch abi.LoadU8(at) {
${branches.join("")}	}
	panic("plexus: the host gave an unknown case of ${title}")
}
`;
  }
}

/** `at + 8`; an offset of 0 is left out. */
export function plus(base: string, offset: number): string {
  return offset === 0 ? base : `${base}+${offset}`;
}

/** The suffix of the functions of a primitive: `U32`, `Bool`. */
function primitive(type: TypeRef, { primitive: name }: Shape & { readonly kind: "primitive" }): string {
  if (name === "char") throw unsupported(type);
  return name.slice(0, 1).toUpperCase() + name.slice(1);
}

/** A core value: i32 is uint32 in Go's functions of the host, i64 is uint64. */
function flatPrimitive(type: TypeRef, shape: Shape & { readonly kind: "primitive" }, at: string): string {
  const load = `abi.Load${primitive(type, shape)}(${at})`;
  switch (shape.primitive) {
    case "u32":
    case "u64":
    case "f32":
    case "f64":
      return load;
    case "bool":
      return `uint32(abi.LoadU8(${at}))`;
    case "s64":
      return `uint64(${load})`;
    default:
      return `uint32(${load})`;
  }
}
