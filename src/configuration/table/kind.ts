// The kind of a configuration key's value: the reading of a value and its JSON Schema, side by side.

import type { ObjectReader } from "../object-reader.ts";

/** A JSON Schema (draft 2020-12). */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** A kind of value; `T` is the value as Plexus uses it. */
export interface Kind<T> {
  /** The value at a key that the object has. Undefined: the value has a mistake, which the reader notes, or it means the default. */
  readonly read: (reader: ObjectReader, key: string) => T | undefined;
  /** Made on demand: calls need no schema. */
  readonly schema: () => JsonSchema;
  /** The JSON value that is read as `value`, if it is another one. */
  written?(value: unknown): unknown;
  /** The value as text in a description, if it is not its JSON text. */
  show?(value: unknown): string;
}

/** A pattern, and its description in messages. */
export interface TextRule {
  readonly pattern: RegExp;
  readonly wanted: string;
}
