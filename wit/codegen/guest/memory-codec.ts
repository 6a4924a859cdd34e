// Loads and stores values in linear memory, with one pair of functions for each used type. Component model,
// design/mvp/CanonicalABI.md, "Loading" and "Storing".

import type { TypeRef } from "../../model.ts";
import { ForeignNames } from "./foreign-names.ts";
import type { GuestTypes } from "./guest-types.ts";
import { flagBytes } from "../layout.ts";
import { pascal } from "../names.ts";
import { guestName } from "./names.ts";
import { banner, Source } from "./source.ts";

const unsigned = { 1: "u8", 2: "u16", 4: "u32" } as const;

/** Generates `codec.ts`: `load_T(at)` and `store_T(at, value)` for each type that {@link MemoryCodec.use} was called with. */
export class MemoryCodec {
  readonly #types: GuestTypes;
  readonly #usedTypes = new Map<string, TypeRef>();
  readonly #foreign: ForeignNames;

  constructor(types: GuestTypes) {
    this.#types = types;
    this.#foreign = new ForeignNames(types, ".");
  }

  /** The helper suffix of a type; the file then contains its functions. */
  use(type: TypeRef): string {
    const helper = this.#types.helper(type);
    if (!this.#usedTypes.has(helper)) this.#usedTypes.set(helper, this.#types.layout.target(type));
    return helper;
  }

  #show(type: TypeRef): string {
    return this.#foreign.show(type);
  }

  /** The file. Call it after all uses. */
  file(): string {
    const out = new Source();
    const done = new Set<string>();
    for (let more = true; more;) {
      more = false;
      for (const [helper, type] of this.#usedTypes) {
        if (done.has(helper)) continue;
        done.add(helper);
        more = true;
        this.#load(out, helper, type);
        this.#store(out, helper, type);
      }
    }
    const body = out.toString();
    const imports = ['import * as _memory from "plexus/memory";', ...this.#foreign.lines(body)];
    return `${banner}\n${imports.join("\n")}\n${body}`;
  }

  /** An expression that loads a type from an address. */
  #get(type: TypeRef, at: string): string {
    const shape = this.#types.layout.shape(type);
    if (shape.kind === "primitive") {
      const guest = this.#show(type);
      return shape.primitive === "bool" ? `load<u8>(${at}) != 0` : `load<${guest}>(${at})`;
    }
    if (shape.kind === "string") return `_memory.loadString(${at})`;
    if (shape.kind === "enum" || shape.kind === "flags") {
      const bytes = shape.kind === "enum" ? this.#types.layout.discriminant(shape.cases.length) : flagBytes(shape.flags.length);
      return `<${this.#show(type)}>load<${unsigned[bytes]}>(${at})`;
    }
    return `load_${this.use(type)}(${at})`;
  }

  /** A statement that stores a type at an address. */
  #put(type: TypeRef, at: string, value: string): string {
    const shape = this.#types.layout.shape(type);
    if (shape.kind === "primitive") {
      if (shape.primitive === "bool") return `store<u8>(${at}, ${value} ? 1 : 0);`;
      return shape.primitive === "char"
        ? `store<u32>(${at}, _memory.char(${value}));`
        : `store<${this.#show(type)}>(${at}, ${value});`;
    }
    if (shape.kind === "string") return `_memory.storeString(${at}, ${value});`;
    if (shape.kind === "enum" || shape.kind === "flags") {
      const bytes = shape.kind === "enum" ? this.#types.layout.discriminant(shape.cases.length) : flagBytes(shape.flags.length);
      return `store<${unsigned[bytes]}>(${at}, <${unsigned[bytes]}>${value});`;
    }
    return `store_${this.use(type)}(${at}, ${value});`;
  }

  #load(out: Source, helper: string, type: TypeRef): void {
    const { layout } = this.#types;
    const shape = layout.shape(type);
    const guest = this.#show(type);
    out.line();
    out.block(`export function load_${helper}(at: usize): ${guest}`, () => {
      const payload = this.#types.nullablePayload(type);
      if (payload !== null) {
        const present = shape.kind === "result" && shape.ok === null ? "==" : shape.kind === "result" ? "!=" : "==";
        out.line(`if (load<u8>(at) ${present} 0) return null;`);
        const value = this.#get(payload, plus("at", layout.payloadOffset(type)));
        out.line(`return ${this.#types.isBoxed(payload) ? `new Some<${this.#show(payload)}>(${value})` : value};`);
        return;
      }
      switch (shape.kind) {
        case "list":
          this.#loadList(out, shape.element);
          break;
        case "record": {
          const offsets = layout.offsets(shape.fields.map(([, t]) => t)).at;
          const at = (i: number): string => plus("at", offsets[i] ?? 0);
          const required = shape.fields.map(([, t]) => this.#required(t));
          const args = shape.fields.flatMap(([, t], i) => (required[i] === true ? [this.#get(t, at(i))] : []));
          out.line(`const value = new ${guest}(${args.join(", ")});`);
          for (const [i, [field, t]] of shape.fields.entries()) {
            if (required[i] !== true) out.line(`value.${guestName(field)} = ${this.#get(t, at(i))};`);
          }
          out.line("return value;");
          break;
        }
        case "tuple": {
          const offsets = layout.offsets(shape.items).at;
          out.line(`return new ${guest}(${shape.items.map((t, i) => this.#get(t, plus("at", offsets[i] ?? 0))).join(", ")});`);
          break;
        }
        case "variant": {
          const offset = plus("at", layout.payloadOffset(type));
          out.line(`const kind = load<${unsigned[layout.discriminant(shape.cases.length)]}>(at);`);
          for (const [i, [name, t]] of shape.cases.entries()) {
            const made = `return ${guest}.${guestName(name)}(${t === null ? "" : this.#get(t, offset)});`;
            out.line(i + 1 < shape.cases.length ? `if (kind == ${i}) ${made}` : made);
          }
          break;
        }
        case "result": {
          if (shape.ok === null || shape.err === null) {
            out.line("return load<u8>(at) == 0;");
            break;
          }
          const offset = plus("at", layout.payloadOffset(type));
          out.line(`if (load<u8>(at) == 0) return ${guest}.ok(${this.#get(shape.ok, offset)});`);
          out.line(`return ${guest}.err(${this.#get(shape.err, offset)});`);
          break;
        }
        default:
          out.line(`return ${this.#get(type, "at")};`);
      }
    });
  }

  #loadList(out: Source, element: TypeRef): void {
    const size = this.#types.layout.size(element);
    out.line("const from = <usize>load<u32>(at);");
    out.line("const length = <i32>load<u32>(at, 4);");
    out.line(`const list = new Array<${this.#show(element)}>(length);`);
    if (this.#plain(element)) out.line(`memory.copy(list.dataStart, from, <usize>length * ${size});`);
    else {
      out.block("for (let i = 0; i < length; i++)", () =>
        out.line(`list[i] = ${this.#get(element, `from + <usize>i * ${size}`)};`),
      );
    }
    out.line("return list;");
  }

  #store(out: Source, helper: string, type: TypeRef): void {
    const { layout } = this.#types;
    const shape = layout.shape(type);
    out.line();
    out.block(`export function store_${helper}(at: usize, value: ${this.#show(type)}): void`, () => {
      const payload = this.#types.nullablePayload(type);
      const offset = plus("at", layout.payloadOffset(type));
      if (payload !== null) {
        const present = shape.kind === "result" && shape.ok !== null ? 0 : 1;
        out.block("if (value === null)", () => {
          out.line(`store<u8>(at, ${1 - present});`);
          out.line("return;");
        });
        out.line(`store<u8>(at, ${present});`);
        out.line(this.#put(payload, offset, this.#types.isBoxed(payload) ? "value.value" : "value"));
        return;
      }
      switch (shape.kind) {
        case "list":
          this.#storeList(out, shape.element);
          break;
        case "record": {
          const offsets = layout.offsets(shape.fields.map(([, t]) => t)).at;
          for (const [i, [field, t]] of shape.fields.entries()) {
            out.line(this.#put(t, plus("at", offsets[i] ?? 0), `value.${guestName(field)}`));
          }
          break;
        }
        case "tuple": {
          const offsets = layout.offsets(shape.items).at;
          for (const [i, t] of shape.items.entries()) out.line(this.#put(t, plus("at", offsets[i] ?? 0), `value.f${i}`));
          break;
        }
        case "variant": {
          const width = unsigned[layout.discriminant(shape.cases.length)];
          out.line(`store<${width}>(at, <${width}>value.kind);`);
          for (const [i, [name, t]] of shape.cases.entries()) {
            if (t !== null) out.line(`if (value.kind == ${i}) { ${this.#put(t, offset, `value.as${pascal(name)}`)} }`);
          }
          break;
        }
        case "result":
          if (shape.ok === null || shape.err === null) {
            out.line("store<u8>(at, value ? 0 : 1);");
            break;
          }
          out.block("if (value.isOk)", () => {
            out.line("store<u8>(at, 0);");
            out.line(this.#put(shape.ok ?? "bool", offset, "value.value"));
            out.line("return;");
          });
          out.line("store<u8>(at, 1);");
          out.line(this.#put(shape.err, offset, "value.error"));
          break;
        default:
          out.line(this.#put(type, "at", "value"));
      }
    });
  }

  #storeList(out: Source, element: TypeRef): void {
    const { layout } = this.#types;
    const size = layout.size(element);
    out.line("const length = value.length;");
    out.line(`store<u32>(at, <u32>_memory.allocateList(length, ${size}, ${layout.alignment(element)}));`);
    out.line("store<u32>(at, <u32>length, 4);");
    out.line("let to = <usize>load<u32>(at);");
    if (this.#plain(element)) out.line(`memory.copy(to, value.dataStart, <usize>length * ${size});`);
    else {
      out.block("for (let i = 0; i < length; i++)", () => {
        out.line(this.#put(element, "to", "value[i]"));
        out.line(`to += ${size};`);
      });
    }
  }

  /** Whether the guest's array has the same bytes as the list, so that it can be copied. */
  #plain(element: TypeRef): boolean {
    const shape = this.#types.layout.shape(element);
    return shape.kind === "primitive" && shape.primitive !== "char" && shape.primitive !== "bool";
  }

  /** Whether a record's constructor has a parameter for a field of this type. */
  #required(type: TypeRef): boolean {
    const { kind } = this.#types.layout.shape(type);
    return kind !== "option" && kind !== "list";
  }
}

function plus(base: string, offset: number): string {
  return offset === 0 ? base : `${base} + ${offset}`;
}
