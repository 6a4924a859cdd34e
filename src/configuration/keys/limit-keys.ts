// The limits of one call of a delegate (`wasm.limits`). No limit can be switched off.

import type { Key, ValuesOf } from "../table/key.ts";
import { bytes, type CountKind, count } from "../table/kinds.ts";
import { sparseSection } from "../table/section.ts";

const mebibyte = 1024 * 1024;
const maxBytes = 16 * mebibyte;

interface LimitKey extends Key<number> {
  readonly kind: CountKind;
  readonly usual: number;
}

function limit(kind: CountKind, usual: number, about: string): LimitKey {
  return { kind, usual, about };
}

/** Each limit with its default and its maximum. */
const limitKeys = {
  timeMs: limit(count(60_000), 2000, "Maximum computing time of a delegate in one call, in milliseconds; {usual} by default."),
  memoryMiB: limit(count(1024), 16, "Maximum memory of a delegate, in mebibytes; {usual} by default."),
  componentMiB: limit(
    count(31),
    4,
    "Maximum size of a component's file, in mebibytes; {usual} by default. A larger component is refused.",
  ),
  coreInstances: limit(
    count(128),
    12,
    "Maximum instances of core modules in one component; {usual} by default. AssemblyScript and Rust have one, Go has four, QuickJS has six, Python has 38.",
  ),
  admissionMs: limit(
    count(60_000),
    3000,
    "Maximum computing time of a component's admission, in milliseconds; {usual} by default. A component that was admitted before is not refused for its time.",
  ),
  inputBytes: limit(bytes(maxBytes), mebibyte, "Maximum input of a delegate in one call, in bytes; {usual} by default."),
  outputBytes: limit(bytes(maxBytes), mebibyte, "Maximum output of a delegate in one call, in bytes; {usual} by default."),
  logBytes: limit(bytes(maxBytes), 64 * 1024, "Maximum log output of one call, in bytes; {usual} by default."),
};

/** All limits. */
export type LimitValues = ValuesOf<typeof limitKeys>;

/** The limits that the configuration has. An absent limit has its default. */
export type DelegateLimits = { readonly [K in keyof LimitValues]?: LimitValues[K] | undefined };

/** A value for each limit. */
export function mapLimits(valueOf: (name: keyof LimitValues) => number): LimitValues {
  const names = Object.keys(limitKeys) as (keyof LimitValues)[];
  return Object.fromEntries(names.map((name) => [name, valueOf(name)])) as LimitValues;
}

export const defaultLimitValues: LimitValues = mapLimits((name) => limitKeys[name].usual);

export const maxLimitValues: LimitValues = mapLimits((name) => limitKeys[name].kind.max);

/** The kind of `wasm.limits`: absent limits stay absent. */
export const limitSection = sparseSection(limitKeys);
