// Joins the grants that the steps of a network need, by type.

import { isJsonObject } from "../../../src/json/document.ts";

type Grants = Readonly<Record<string, unknown>>;

/** The grants of all fragments `{ wasm: { grants: { TYPE: … } } }`. Lists of one key are joined, so that each step has its own values. */
export function mergedGrants(fragments: readonly (object | null)[]): Grants {
  return fragments.reduce<Grants>((all, fragment) => {
    const wasm: unknown = fragment === null || !("wasm" in fragment) ? undefined : fragment.wasm;
    return isJsonObject(wasm) ? joined(all, isJsonObject(wasm["grants"]) ? wasm["grants"] : {}) : all;
  }, {});
}

function joined(one: Grants, other: Grants): Grants {
  const merged = Object.entries(other).map(([key, value]) => {
    const before = Object.hasOwn(one, key) ? one[key] : undefined;
    if (Array.isArray(before) && Array.isArray(value)) return [key, [...new Set([...before, ...value])]];
    return [key, isJsonObject(before) && isJsonObject(value) ? joined(before, value) : value];
  });
  return { ...one, ...Object.fromEntries(merged) };
}
