// The typed model of a WIT package, as `wit/<version>/model.json` has it. Types only: everything that generates
// code from the ABI (the sandbox's glue, the guest kit's bindings) reads this instead of parsing WIT.

/** A type without structure of its own. */
export type Primitive = "bool" | "u8" | "s8" | "u16" | "s16" | "u32" | "s32" | "u64" | "s64" | "f32" | "f64" | "char" | "string";

/**
 * A use of a type. `ref` is `interface.type` and names the interface that *defines* the type: a `use` is followed.
 * An interface of another package goes by its full name, e.g. `wasi:clocks/types@0.2.0.duration`.
 */
export type TypeRef =
  | Primitive
  | { readonly ref: string }
  | { readonly list: TypeRef }
  | { readonly option: TypeRef }
  | { readonly result: { readonly ok: TypeRef | null; readonly err: TypeRef | null } }
  | { readonly tuple: readonly TypeRef[] };

/** The definition of a named type. Order of fields and cases is that of the WIT, which the ABI depends on. */
export type TypeDef =
  | { readonly record: readonly (readonly [name: string, type: TypeRef])[] }
  | { readonly enum: readonly string[] }
  | { readonly variant: readonly (readonly [name: string, payload: TypeRef | null])[] }
  | { readonly flags: readonly string[] }
  /** `type a = …` (any type) or `use other.{a}` (a `ref` to the defining interface). */
  | { readonly alias: TypeRef };

export interface WitFunction {
  readonly params: readonly (readonly [name: string, type: TypeRef])[];
  /** Null: the function answers nothing. */
  readonly result: TypeRef | null;
}

export interface WitInterface {
  readonly types: Readonly<Record<string, TypeDef>>;
  readonly functions: Readonly<Record<string, WitFunction>>;
}

export interface WitWorld {
  /** Interfaces by their keys in `interfaces`, those that are only imported for their types included. */
  readonly imports: readonly string[];
  readonly exports: readonly string[];
}

export interface WitModel {
  /** `namespace:name`, without version. */
  readonly package: string;
  /** Empty where the WIT gives none. */
  readonly version: string;
  /** What the worlds reach. */
  readonly interfaces: Readonly<Record<string, WitInterface>>;
  readonly worlds: Readonly<Record<string, WitWorld>>;
}
