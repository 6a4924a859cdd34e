// The answer of a function of the pure core: a value, or a fault as data. Functions in src/ never throw.

import type { Fault } from "./fault.ts";

/** A value or a fault. */
export type Result<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly fault: Fault };

/** A successful result. */
export function ok<T>(value: T): Result<T> {
  return { ok: true, value };
}

/** A failed result. */
export function failed(fault: Fault): { readonly ok: false; readonly fault: Fault } {
  return { ok: false, fault };
}
