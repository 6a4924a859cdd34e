// The core values of a flat form in generated code. A variant's cases share their slots, so a slot may be wider than its value
// (component model, CanonicalABI.md, "Flattening", `join`).

import type { Core } from "../layout.ts";

/** A core value in generated code. */
export interface Slot {
  readonly name: string;
  readonly core: Core;
}

/** A statement that assigns a core value of type `have` to a slot. */
export function set(slot: Slot, value: string, have: Core): string {
  const widen = (): string => {
    if (slot.core === have) return value;
    if (have === "f64") return `reinterpret<i64>(${value})`;
    const bits = have === "f32" ? `reinterpret<i32>(${value})` : value;
    return slot.core === "i64" ? `<i64><u32>${bits}` : bits;
  };
  return `${slot.name} = ${widen()};`;
}

/** An expression that reads a core value of type `want` from a slot. */
export function get(slot: Slot, want: Core): string {
  if (slot.core === want) return slot.name;
  if (want === "f64") return `reinterpret<f64>(${slot.name})`;
  const bits = slot.core === "i64" ? `<i32>${slot.name}` : slot.name;
  return want === "f32" ? `reinterpret<f32>(${bits})` : bits;
}
