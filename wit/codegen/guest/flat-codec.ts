// Passing values as flat core parameters. Component model, design/mvp/CanonicalABI.md, "Flat Lifting" and "Flat Lowering".

import type { TypeRef } from "../../model.ts";
import type { GuestTypes } from "./guest-types.ts";
import { pascal } from "../names.ts";
import type { MemoryCodec } from "./memory-codec.ts";
import { guestName } from "./names.ts";
import { get, set, type Slot } from "./slots.ts";
import type { Source } from "./source.ts";

/** The spelling of a type in the file with the flat code. */
export type Show = (type: TypeRef) => string;

/** Writes flat lifting and lowering into function bodies. */
export class FlatCodec {
  readonly #types: GuestTypes;
  readonly #codec: MemoryCodec;
  readonly #show: Show;
  #locals = 0;

  constructor(types: GuestTypes, codec: MemoryCodec, show: Show) {
    this.#types = types;
    this.#codec = codec;
    this.#show = show;
  }

  #local(): string {
    this.#locals += 1;
    return `_${this.#locals}`;
  }

  /** Statements that store `value` into `slots`, which are zero before. */
  lower(out: Source, type: TypeRef, value: string, slots: readonly Slot[]): void {
    const { layout } = this.#types;
    const shape = layout.shape(type);
    const [first, second] = slots;
    if (first === undefined) return;
    const payload = this.#types.nullablePayload(type);
    if (payload !== null) {
      this.#lowerNullable(out, payload, value, slots, shape.kind === "result" && shape.ok !== null ? 0 : 1);
      return;
    }
    switch (shape.kind) {
      case "primitive": {
        const core = layout.flatten(type)[0] ?? "i32";
        out.line(set(first, primitiveText(shape.primitive, value, core), core));
        return;
      }
      case "enum":
      case "flags":
        out.line(set(first, `<i32>${value}`, "i32"));
        return;
      case "string":
        out.line(set(first, `<i32>_memory.lowerString(${value})`, "i32"));
        if (second !== undefined) out.line(set(second, "_memory.loweredBytes", "i32"));
        return;
      case "list": {
        const area = this.#local();
        out.line(`const ${area} = _memory.allocate(8, 4);`);
        out.line(`_codec.store_${this.#codec.use(type)}(${area}, ${value});`);
        out.line(set(first, `load<i32>(${area})`, "i32"));
        if (second !== undefined) out.line(set(second, `load<i32>(${area}, 4)`, "i32"));
        return;
      }
      case "record":
      case "tuple": {
        const local = this.#local();
        out.line(`const ${local} = ${value};`);
        const fields =
          shape.kind === "record"
            ? shape.fields.map(([field, t]) => [guestName(field), t] as const)
            : shape.items.map((t, i) => [`f${i}`, t] as const);
        const parts = layout.divide(
          fields.map(([, t]) => t),
          slots,
        );
        for (const [i, [t, own]] of parts.entries()) this.lower(out, t, `${local}.${fields[i]?.[0]}`, own);
        return;
      }
      case "variant": {
        const local = this.#local();
        out.line(`const ${local} = ${value};`);
        out.line(set(first, `${local}.kind`, "i32"));
        for (const [i, [name, t]] of shape.cases.entries()) {
          if (t !== null)
            out.block(`if (${local}.kind == ${i})`, () => this.lower(out, t, `${local}.as${pascal(name)}`, slots.slice(1)));
        }
        return;
      }
      case "result":
        this.#lowerResult(out, shape, value, slots);
        return;
      default:
        throw new Error(`no flat form of ${shape.kind}`);
    }
  }

  /** Lowers a value that the guest spells as its payload or `null`. `present`: the discriminant with the payload. */
  #lowerNullable(out: Source, payload: TypeRef, value: string, slots: readonly Slot[], present: 0 | 1): void {
    const [first] = slots;
    if (first === undefined) return;
    const local = this.#local();
    out.line(`const ${local} = ${value};`);
    out.block(`if (${local} === null)`, () => out.line(set(first, `${1 - present}`, "i32")));
    out.block("else", () => {
      out.line(set(first, `${present}`, "i32"));
      this.lower(out, payload, this.#types.isBoxed(payload) ? `${local}.value` : local, slots.slice(1));
    });
  }

  #lowerResult(
    out: Source,
    { ok, err }: { readonly ok: TypeRef | null; readonly err: TypeRef | null },
    value: string,
    slots: readonly Slot[],
  ): void {
    const [first] = slots;
    if (first === undefined) return;
    if (ok === null || err === null) {
      out.line(set(first, `(${value} ? 0 : 1)`, "i32"));
      return;
    }
    const local = this.#local();
    out.line(`const ${local} = ${value};`);
    out.block(`if (${local}.isOk)`, () => {
      out.line(set(first, "0", "i32"));
      this.lower(out, ok, `${local}.value`, slots.slice(1));
    });
    out.block("else", () => {
      out.line(set(first, "1", "i32"));
      this.lower(out, err, `${local}.error`, slots.slice(1));
    });
  }

  /** Statements that read a value from `slots`; answers the expression with the value. */
  lift(out: Source, type: TypeRef, slots: readonly Slot[]): string {
    const { layout } = this.#types;
    const shape = layout.shape(type);
    const [first, second] = slots;
    if (first === undefined) return `new ${this.#show(type)}()`;
    const tag = get(first, "i32");
    const payload = this.#types.nullablePayload(type);
    if (payload !== null) {
      const local = this.#local();
      const present = shape.kind === "result" && shape.ok !== null ? 0 : 1;
      out.line(`let ${local}: ${this.#show(type)} = null;`);
      out.block(`if (${tag} == ${present})`, () => {
        const inner = this.lift(out, payload, slots.slice(1));
        out.line(`${local} = ${this.#types.isBoxed(payload) ? `new Some<${this.#show(payload)}>(${inner})` : inner};`);
      });
      return local;
    }
    switch (shape.kind) {
      case "primitive": {
        const core = layout.flatten(type)[0] ?? "i32";
        return shape.primitive === "bool" ? `${tag} != 0` : `<${this.#show(type)}>${get(first, core)}`;
      }
      case "enum":
      case "flags":
        return `<${this.#show(type)}>${tag}`;
      case "string":
        return `_memory.liftString(<usize>${tag}, ${second === undefined ? "0" : get(second, "i32")})`;
      case "list": {
        const area = this.#local();
        out.line(`const ${area} = _memory.allocate(8, 4);`);
        out.line(`store<i32>(${area}, ${tag});`);
        out.line(`store<i32>(${area}, ${second === undefined ? "0" : get(second, "i32")}, 4);`);
        return `_codec.load_${this.#codec.use(type)}(${area})`;
      }
      case "record": {
        const parts = this.#sequence(
          out,
          shape.fields.map(([, t]) => t),
          slots,
        );
        const local = this.#local();
        const required = shape.fields.map(([, t]) => !["option", "list"].includes(layout.shape(t).kind));
        out.line(`const ${local} = new ${this.#show(type)}(${parts.filter((_, i) => required[i] === true).join(", ")});`);
        for (const [i, [field]] of shape.fields.entries()) {
          if (required[i] !== true) out.line(`${local}.${guestName(field)} = ${parts[i] ?? "null"};`);
        }
        return local;
      }
      case "tuple":
        return `new ${this.#show(type)}(${this.#sequence(out, shape.items, slots).join(", ")})`;
      case "variant":
        return this.#cases(
          out,
          this.#show(type),
          tag,
          shape.cases.map(([name, t]) => ({ make: guestName(name), payload: t })),
          slots,
        );
      case "result": {
        if (shape.ok === null || shape.err === null) return `${tag} == 0`;
        const sides = [
          { make: "ok", payload: shape.ok },
          { make: "err", payload: shape.err },
        ];
        return this.#cases(out, this.#show(type), tag, sides, slots);
      }
      default:
        throw new Error(`no flat form of ${shape.kind}`);
    }
  }

  #sequence(out: Source, items: readonly TypeRef[], slots: readonly Slot[]): string[] {
    return this.#types.layout.divide(items, slots).map(([type, own]) => this.lift(out, type, own));
  }

  #cases(
    out: Source,
    guest: string,
    tag: string,
    cases: readonly { readonly make: string; readonly payload: TypeRef | null }[],
    slots: readonly Slot[],
  ): string {
    const local = this.#local();
    out.line(`let ${local}: ${guest} | null = null;`);
    for (const [i, { make, payload }] of cases.entries()) {
      out.block(`if (${tag} == ${i})`, () => {
        out.line(`${local} = ${guest}.${make}(${payload === null ? "" : this.lift(out, payload, slots.slice(1))});`);
      });
    }
    return `(${local} as ${guest})`;
  }
}

/** The expression of a primitive value as a core value. */
function primitiveText(primitive: string, value: string, core: string): string {
  if (primitive === "bool") return `(${value} ? 1 : 0)`;
  return primitive === "char" ? `<i32>_memory.char(${value})` : `<${core}>${value}`;
}
