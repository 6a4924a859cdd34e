// The AssemblyScript types of WIT types, as the author of a guest sees them.
//
//   option<T>            T | null; Some<T> | null if T is not a reference or can itself be null
//   result<_, E>         like option<E>: null means success
//   result<T>            like option<T>: null means failure
//   result<T, E>         a class of its own, `TOrE`, with ok(), err(), isOk, value and error
//   tuple<A, B>          a class of its own, `PairOfAB`, with f0, f1
//   result               bool
//   char                 u32 (a Unicode scalar value)
//   enum, flags          an enum of i32; flags are bits

import type { TypeRef } from "../../model.ts";
import type { Layout } from "../layout.ts";
import { guestType, localType, qualified } from "./names.ts";

const primitives = {
  bool: "bool",
  u8: "u8",
  s8: "i8",
  u16: "u16",
  s16: "i16",
  u32: "u32",
  s32: "i32",
  u64: "u64",
  s64: "i64",
  f32: "f32",
  f64: "f64",
  char: "u32",
} as const;

/** The class of a result or a tuple. */
export interface Compound {
  readonly name: string;
  readonly type: TypeRef;
}

/** Names every type, and collects the classes for anonymous results and tuples. */
export class GuestTypes {
  readonly layout: Layout;
  readonly #compounds = new Map<string, Compound>();
  readonly #names = new Map<string, string>();
  readonly #taken = new Set<string>();

  /** `taken`: names of the model's own types, which compounds must not get. */
  constructor(layout: Layout, taken: Iterable<string>) {
    this.layout = layout;
    for (const name of taken) this.#taken.add(name);
  }

  /** The compounds used so far, in the order of their first use. */
  compounds(): Compound[] {
    return [...this.#compounds.values()];
  }

  /** The payload of a type that means "nothing or a payload": option<T>, result<T> and result<_, E>. Null: another type. */
  nullablePayload(type: TypeRef): TypeRef | null {
    const shape = this.layout.shape(type);
    if (shape.kind === "option") return shape.inner;
    if (shape.kind !== "result") return null;
    if (shape.ok === null) return shape.err;
    return shape.err === null ? shape.ok : null;
  }

  /** Whether `T | null` can be written for this type. */
  isReference(type: TypeRef): boolean {
    if (this.nullablePayload(type) !== null) return false;
    const { kind } = this.layout.shape(type);
    if (kind === "result") return this.#isCompound(type);
    return kind === "string" || kind === "list" || kind === "record" || kind === "tuple" || kind === "variant";
  }

  /** Whether the payload of an option is wrapped in a `Some`. */
  isBoxed(payload: TypeRef): boolean {
    return !this.isReference(payload);
  }

  #isCompound(type: TypeRef): boolean {
    const shape = this.layout.shape(type);
    return shape.kind === "tuple" || (shape.kind === "result" && shape.ok !== null && shape.err !== null);
  }

  /** The type in AssemblyScript. `named` spells a named type: short in its own file, with a prefix in others. */
  type(type: TypeRef, named: (ref: string) => string): string {
    const payload = this.nullablePayload(type);
    if (payload !== null) {
      const inner = this.type(payload, named);
      return this.isBoxed(payload) ? `Some<${inner}> | null` : `${inner} | null`;
    }
    const shape = this.layout.shape(type);
    switch (shape.kind) {
      case "primitive":
        return primitives[shape.primitive];
      case "string":
        return "string";
      case "list":
        return `Array<${this.type(shape.element, named)}>`;
      case "record":
      case "variant":
      case "enum":
      case "flags":
        return named(shape.name);
      default:
        return this.#isCompound(type) ? this.compound(type) : "bool";
    }
  }

  /** The compound classes in a type's guest form, without those inside its named types. */
  compoundsIn(type: TypeRef): string[] {
    const payload = this.nullablePayload(type);
    if (payload !== null) return this.compoundsIn(payload);
    const shape = this.layout.shape(type);
    if (shape.kind === "list") return this.compoundsIn(shape.element);
    return this.#isCompound(type) ? [this.compound(type)] : [];
  }

  /** The class of a result<T, E> or a tuple. */
  compound(type: TypeRef): string {
    const target = this.layout.target(type);
    const key = this.#key(target);
    const known = this.#compounds.get(key);
    if (known !== undefined) return known.name;
    const shape = this.layout.shape(target);
    const spell = (part: TypeRef | null): string => (part === null ? "Nothing" : this.#spell(part));
    const preferred =
      shape.kind === "result"
        ? `${spell(shape.ok)}Or${spell(shape.err)}`
        : shape.kind === "tuple"
          ? `${["Unit", "Single", "Pair", "Triple"][shape.items.length] ?? `Tuple${shape.items.length}`}Of${shape.items.map(spell).join("")}`
          : "Compound";
    let name = preferred;
    for (let n = 2; this.#taken.has(name); n += 1) name = `${preferred}${n}`;
    this.#taken.add(name);
    this.#compounds.set(key, { name, type: target });
    return name;
  }

  /** The suffix of the load and store helpers of a type; types of equal structure share it. */
  helper(type: TypeRef): string {
    const target = this.layout.target(type);
    const key = this.#key(target);
    const known = this.#names.get(key);
    if (known !== undefined) return known;
    const preferred = this.#mangle(target);
    const taken = new Set(this.#names.values());
    let name = preferred;
    for (let n = 2; taken.has(name); n += 1) name = `${preferred}${n}`;
    this.#names.set(key, name);
    return name;
  }

  #key(type: TypeRef | null): string {
    if (type === null) return "_";
    const target = this.layout.target(type);
    if (typeof target === "string") return target;
    if ("ref" in target) return target.ref;
    if ("list" in target) return `list<${this.#key(target.list)}>`;
    if ("option" in target) return `option<${this.#key(target.option)}>`;
    if ("tuple" in target) return `tuple<${target.tuple.map((t) => this.#key(t)).join()}>`;
    return `result<${this.#key(target.result.ok)},${this.#key(target.result.err)}>`;
  }

  #mangle(type: TypeRef): string {
    const shape = this.layout.shape(type);
    const part = (t: TypeRef | null): string => (t === null ? "none" : this.helper(t));
    switch (shape.kind) {
      case "primitive":
        return shape.primitive;
      case "string":
        return "string";
      case "list":
        return `list_${part(shape.element)}`;
      case "option":
        return `option_${part(shape.inner)}`;
      case "result":
        return `result_${part(shape.ok)}_${part(shape.err)}`;
      case "tuple":
        return `tuple_${shape.items.map(part).join("_")}`;
      default:
        return qualified(shape.name);
    }
  }

  #spell(type: TypeRef): string {
    const shape = this.layout.shape(type);
    switch (shape.kind) {
      case "primitive":
        return guestType(shape.primitive);
      case "string":
        return "Text";
      case "list":
        return `${this.#spell(shape.element)}List`;
      case "option":
        return `Optional${this.#spell(shape.inner)}`;
      case "tuple":
      case "result":
        return this.#isCompound(type) ? this.compound(type) : `Outcome${this.#key(type).replace(/[^a-zA-Z0-9]+/g, "")}`;
      default:
        return localType(shape.name);
    }
  }
}
