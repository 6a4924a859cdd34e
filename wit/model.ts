// The typed model of a WIT package, `wit/<version>/generated/model.json`. Types only: all generators of code for the ABI (the sandbox's
// glue, the guest kit's bindings) read it instead of parsing WIT.

/** A type without further structure. */
export type Primitive = "bool" | "u8" | "s8" | "u16" | "s16" | "u32" | "s32" | "u64" | "s64" | "f32" | "f64" | "char" | "string";

/**
 * A use of a type. `ref` is `interface.type` with the interface that *defines* the type: each `use` is resolved. An interface of
 * another package has its full name, e.g. `wasi:clocks/types@0.2.0.duration`.
 */
export type TypeRef =
  | Primitive
  | { readonly ref: string }
  | { readonly list: TypeRef }
  | { readonly option: TypeRef }
  | { readonly result: { readonly ok: TypeRef | null; readonly err: TypeRef | null } }
  | { readonly tuple: readonly TypeRef[] };

/** The definition of a named type. Fields and cases are in the order of the WIT, on which the ABI depends. */
export type TypeDef =
  | { readonly record: readonly (readonly [name: string, type: TypeRef])[] }
  | { readonly enum: readonly string[] }
  | { readonly variant: readonly (readonly [name: string, payload: TypeRef | null])[] }
  | { readonly flags: readonly string[] }
  /** `type a = …` (any type) or `use other.{a}` (a `ref` to the defining interface). */
  | { readonly alias: TypeRef };

export interface WitFunction {
  readonly params: readonly (readonly [name: string, type: TypeRef])[];
  /** Null: the function has no result. */
  readonly result: TypeRef | null;
}

export interface WitInterface {
  readonly types: Readonly<Record<string, TypeDef>>;
  readonly functions: Readonly<Record<string, WitFunction>>;
}

export interface WitWorld {
  /** Interfaces by their keys in `interfaces`, including those that are imported only for their types. */
  readonly imports: readonly string[];
  readonly exports: readonly string[];
}

export interface WitModel {
  /** `namespace:name`, without version. */
  readonly package: string;
  /** Empty if the WIT has none. */
  readonly version: string;
  /** All interfaces that the worlds use, directly or indirectly. */
  readonly interfaces: Readonly<Record<string, WitInterface>>;
  readonly worlds: Readonly<Record<string, WitWorld>>;
}
