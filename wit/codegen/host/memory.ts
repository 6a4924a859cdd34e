// The code that loads and stores a value in a guest's memory (CanonicalABI.md, "Loading" and "Storing").

import type { Primitive, TypeRef } from "../../model.ts";
import type { Layout } from "../layout.ts";
import { pascal } from "../names.ts";
import { typeName } from "./types.ts";

/** The primitives that host/sandbox/abi/guest.ts reads and writes. */
const supported: ReadonlySet<Primitive> = new Set(["bool", "u8", "s8", "u16", "s16", "u32", "s32", "u64", "string"]);

/** The end of the name of a primitive's functions in host/sandbox/abi/guest.ts. Throws for a primitive without functions there. */
export function suffixOf(primitive: Primitive): string {
  if (!supported.has(primitive)) throw new Error(`${primitive} is not supported by the sandbox's glue yet`);
  return pascal(primitive);
}

/** The text of an address plus an offset. */
export const plus = (at: string, offset: number): string => (offset === 0 ? at : `${at} + ${offset}`);

/** An expression that loads a value of the type from `at`. */
export function load(layout: Layout, use: TypeRef | null, at: string): string {
  if (use === null) return "undefined";
  if (typeof use === "string") {
    const suffix = suffixOf(use);
    return use === "string" ? `g.load${suffix}(${at})` : `g.${use}(${at})`;
  }
  if ("ref" in use) return `load${typeName(use.ref)}(g, ${at})`;
  if ("list" in use) {
    const [size, align] = [layout.size(use.list), layout.alignment(use.list)];
    return `g.loadList(${at}, ${size}, ${align}, ${loader(layout, use.list)})`;
  }
  if ("option" in use) {
    const payload = layout.payloadOffset(use);
    return `(g.discriminant(${at}, 1, 2) === 0 ? undefined : ${load(layout, use.option, plus(at, payload))})`;
  }
  if ("result" in use) {
    const { ok, err } = use.result;
    const inner = plus(at, layout.payloadOffset(use));
    return `(g.discriminant(${at}, 1, 2) === 0 ? { ok: ${load(layout, ok, inner)} } : { err: ${load(layout, err, inner)} })`;
  }
  const offsets = layout.offsets(use.tuple).at;
  return `[${use.tuple.map((type, index) => load(layout, type, plus(at, offsets[index] ?? 0))).join(", ")}]`;
}

/** A statement that stores the value `value` at `at`. */
export function store(layout: Layout, use: TypeRef | null, at: string, value: string): string {
  if (use === null) return "";
  if (typeof use === "string") return `g.store${suffixOf(use)}(${at}, ${value});`;
  if ("ref" in use) return `store${typeName(use.ref)}(g, ${at}, ${value});`;
  if ("list" in use) {
    const [size, align] = [layout.size(use.list), layout.alignment(use.list)];
    return `g.storeList(${at}, ${value}, ${size}, ${align}, (e, v) => { ${store(layout, use.list, "e", "v")} });`;
  }
  if ("option" in use) {
    const inner = plus(at, layout.payloadOffset(use));
    return `if (${value} === undefined) g.storeU8(${at}, 0); else { g.storeU8(${at}, 1); ${store(layout, use.option, inner, value)} }`;
  }
  if ("result" in use) {
    const { ok, err } = use.result;
    const inner = plus(at, layout.payloadOffset(use));
    const storeOk = `g.storeU8(${at}, 0); ${store(layout, ok, inner, `${value}.ok`)}`;
    return `if ("err" in ${value}) { g.storeU8(${at}, 1); ${store(layout, err, inner, `${value}.err`)} } else { ${storeOk} }`;
  }
  const offsets = layout.offsets(use.tuple).at;
  return use.tuple.map((type, index) => store(layout, type, plus(at, offsets[index] ?? 0), `${value}[${index}]`)).join(" ");
}

/** The function that loads an element of a list. */
export function loader(layout: Layout, use: TypeRef): string {
  return typeof use === "object" && "ref" in use ? `load${typeName(use.ref)}` : `(_, e) => ${load(layout, use, "e")}`;
}
