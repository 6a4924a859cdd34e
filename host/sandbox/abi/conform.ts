// Values that another process handed over as JSON, rebuilt by the WIT model: nothing gets further that isn't of its type.

import type { TypeDef, TypeRef, WitModel } from "../../../wit/model.ts";
import { camel } from "./generate-types.ts";
import { definitionOf } from "./layout.ts";

/** A value that isn't what the model says. */
export class NonConforming extends Error {}

const ranges: Readonly<Record<string, readonly [number, number]>> = {
  u8: [0, 0xff],
  s8: [-0x80, 0x7f],
  u16: [0, 0xffff],
  s16: [-0x8000, 0x7fff],
  u32: [0, 0xffff_ffff],
  s32: [-0x8000_0000, 0x7fff_ffff],
};

/** A clean copy of `value` as the type says. Throws NonConforming. */
export function conform(model: WitModel, use: TypeRef | null, value: unknown): unknown {
  if (use === null) return undefined;
  if (typeof use === "string") return primitive(use, value);
  if ("ref" in use) return named(model, definitionOf(model, use.ref), value);
  if ("list" in use) {
    if (!Array.isArray(value)) throw new NonConforming("no list");
    return value.map((element) => conform(model, use.list, element));
  }
  if ("option" in use) return value === undefined || value === null ? undefined : conform(model, use.option, value);
  if ("tuple" in use) {
    if (!Array.isArray(value) || value.length !== use.tuple.length) throw new NonConforming("no tuple");
    return use.tuple.map((type, index) => conform(model, type, value[index]));
  }
  const result = object(value);
  if ("err" in result) return { err: conform(model, use.result.err, result["err"]) };
  return { ok: conform(model, use.result.ok, result["ok"]) };
}

function primitive(type: string, value: unknown): unknown {
  if (type === "string" || type === "char") {
    if (typeof value === "string") return value;
  } else if (type === "bool") {
    if (typeof value === "boolean") return value;
  } else {
    const [least, most] = ranges[type] ?? [0, -1];
    if (typeof value === "number" && Number.isInteger(value) && value >= least && value <= most) return value;
  }
  throw new NonConforming(`no ${type}`);
}

function named(model: WitModel, definition: TypeDef, value: unknown): unknown {
  if ("alias" in definition) return conform(model, definition.alias, value);
  if ("enum" in definition) {
    if (typeof value === "string" && definition.enum.includes(value)) return value;
    throw new NonConforming("no case of the enum");
  }
  if ("variant" in definition) return caseOf(model, definition.variant, object(value));
  if (!("record" in definition)) throw new NonConforming("flags are not supported");
  const from = object(value);
  const copy: Record<string, unknown> = {};
  for (const [name, type] of definition.record) {
    const key = camel(name);
    copy[key] = conform(model, type, Object.hasOwn(from, key) ? from[key] : undefined);
  }
  return copy;
}

function caseOf(
  model: WitModel,
  cases: readonly (readonly [string, TypeRef | null])[],
  { tag, val }: Readonly<Record<string, unknown>>,
): unknown {
  const [label, payload] = cases.find(([name]) => name === tag) ?? [];
  if (label === undefined || payload === undefined) throw new NonConforming("no case of the variant");
  return payload === null ? { tag: label } : { tag: label, val: conform(model, payload, val) };
}

function object(value: unknown): Readonly<Record<string, unknown>> {
  if (isObject(value)) return value;
  throw new NonConforming("no object");
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
