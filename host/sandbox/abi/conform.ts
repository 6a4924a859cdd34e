// Checks JSON values from another process against their WIT types, and copies only what the types describe.

import type { TypeDef, TypeRef, WitModel } from "../../../wit/model.ts";
import { camel } from "../../../wit/codegen/names.ts";
import { definitionOf } from "../../../wit/codegen/shapes.ts";

/** A value that does not have its WIT type. */
export class NonConforming extends Error {}

const ranges: Readonly<Record<string, readonly [number, number]>> = {
  u8: [0, 0xff],
  s8: [-0x80, 0x7f],
  u16: [0, 0xffff],
  s16: [-0x8000, 0x7fff],
  u32: [0, 0xffff_ffff],
  s32: [-0x8000_0000, 0x7fff_ffff],
  u64: [0, Number.MAX_SAFE_INTEGER],
};

type Check = (value: unknown) => unknown;

/** One check for each use of a type, so that names and definitions are looked up once. A use belongs to one model. */
const checks = new WeakMap<TypeRef & object, Check>();

/** A copy of `value` with the members of its type only. Throws NonConforming. */
export function conform(model: WitModel, use: TypeRef | null, value: unknown): unknown {
  if (use === null) return undefined;
  if (typeof use === "string") return primitive(use, value);
  let check = checks.get(use);
  if (check === undefined) {
    check = checkOf(model, use);
    checks.set(use, check);
  }
  return check(value);
}

function checkOf(model: WitModel, use: TypeRef | null): Check {
  if (use === null) return () => undefined;
  if (typeof use === "string") return (value) => primitive(use, value);
  if ("ref" in use) return named(model, definitionOf(model, use.ref));
  if ("list" in use) {
    const element = checkOf(model, use.list);
    return (value) => {
      if (!Array.isArray(value)) throw new NonConforming("a value that is not a list");
      return value.map((each) => element(each));
    };
  }
  if ("option" in use) {
    const some = checkOf(model, use.option);
    return (value) => (value === undefined || value === null ? undefined : some(value));
  }
  if ("tuple" in use) {
    const parts = use.tuple.map((type) => checkOf(model, type));
    return (value) => {
      if (!Array.isArray(value) || value.length !== parts.length)
        throw new NonConforming("a value that is not a tuple of the right length");
      return parts.map((part, index) => part(value[index]));
    };
  }
  const [okCheck, errCheck] = [checkOf(model, use.result.ok), checkOf(model, use.result.err)];
  return (value) => {
    const result = object(value);
    return "err" in result ? { err: errCheck(result["err"]) } : { ok: okCheck(result["ok"]) };
  };
}

function primitive(type: string, value: unknown): unknown {
  if (type === "string" || type === "char") {
    if (typeof value === "string") return value;
  } else if (type === "bool") {
    if (typeof value === "boolean") return value;
  } else {
    const [min, max] = ranges[type] ?? [0, -1];
    if (typeof value === "number" && Number.isInteger(value) && value >= min && value <= max) return value;
  }
  throw new NonConforming(`a value that is not of type ${type}`);
}

function named(model: WitModel, definition: TypeDef): Check {
  if ("alias" in definition) return checkOf(model, definition.alias);
  if ("enum" in definition) {
    const labels: ReadonlySet<unknown> = new Set(definition.enum);
    return (value) => {
      if (labels.has(value)) return value;
      throw new NonConforming("a value that is not a case of its enum");
    };
  }
  if ("variant" in definition) {
    const cases = new Map<unknown, Check | undefined>(
      definition.variant.map(([label, payload]) => [label, payload === null ? undefined : checkOf(model, payload)]),
    );
    return (value) => {
      const { tag, val } = object(value);
      if (!cases.has(tag)) throw new NonConforming("a value that is not a case of its variant");
      const payload = cases.get(tag);
      return payload === undefined ? { tag } : { tag, val: payload(val) };
    };
  }
  if (!("record" in definition)) throw new Error("flags are not supported by the sandbox's glue yet");
  const fields = definition.record.map(([name, type]) => [camel(name), checkOf(model, type)] as const);
  return (value) => {
    const from = object(value);
    const copy: Record<string, unknown> = {};
    for (const [key, check] of fields) copy[key] = check(Object.hasOwn(from, key) ? from[key] : undefined);
    return copy;
  };
}

function object(value: unknown): Readonly<Record<string, unknown>> {
  if (isObject(value)) return value;
  throw new NonConforming("a value that is not an object");
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
