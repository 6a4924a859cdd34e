// A table of configuration keys. Each entry is the only place of its key: reader, type, JSON Schema, reference page and chart come from it.

import type { Kind } from "./kind.ts";

/** The facts about one key, whose value is a `T`. */
export interface KeyFacts<T> {
  readonly kind: Kind<T>;
  /** The meaning, one or more sentences; `{usual}` stands for the default. */
  readonly about: string;
  /** Whether the reader refuses an object without the key; `written`: only the JSON Schema does. */
  readonly required?: true | "written";
  /** The value in the place of a mistaken one, in a call that goes on (DEL, CHECK); the default unless given. */
  readonly mistaken?: NoInfer<T>;
  /** A sentence for the administrator about this value; undefined: none. */
  readonly notice?: (value: unknown) => string | undefined;
  /** Whether only the runtime sets the key. */
  readonly byRuntime?: true;
  /** The reason why a template of plexusd may not have the key, which plexusd sets. */
  readonly byPlexusd?: string;
  /** Whether only the CNI configuration may have the key: a DEL needs it without the file, or the runtime or the shim reads it. */
  readonly inCniOnly?: true;
  /** Whether a mistake in the key stops every call: a DEL that finds no journal would succeed without an effect. */
  readonly locatesState?: true;
  /** The key in the chart's values, unless it is below `config`: a value of its own, or none. */
  readonly inChart?: "own" | "none";
  /** Whether no refusal of another key lists it, because the key has no effect or another key is better. */
  readonly isUnlisted?: true;
}

/** A key whose value is a `T`; undefined without the key unless it has a default. */
export interface Key<T> extends Omit<KeyFacts<NonNullable<T>>, "kind"> {
  readonly kind: Kind<NonNullable<T>>;
  /** The default. */
  readonly usual?: T;
}

/** Keys by their names, in the order in which messages and pages have them. */
export type KeyTable = Readonly<Record<string, Key<unknown>>>;

/** An entry with a default. */
export function key<T>(facts: KeyFacts<T> & { readonly usual: NoInfer<T> }): Key<T>;
/** An entry that every object has. */
export function key<T>(facts: KeyFacts<T> & { readonly required: true }): Key<T>;
/** An entry that an object may lack. */
export function key<T>(facts: KeyFacts<T>): Key<T | undefined>;
export function key<T>(facts: KeyFacts<T>): KeyFacts<T> {
  return facts;
}

type ValueAt<K> = K extends Key<infer T> ? T : never;
type OptionalIn<T extends KeyTable> = { [K in keyof T]: undefined extends ValueAt<T[K]> ? K : never }[keyof T];
type Flat<T> = { [K in keyof T]: T[K] };

/** The values of a table's keys. */
export type ValuesOf<T extends KeyTable> = Flat<
  { readonly [K in keyof T as Exclude<K, OptionalIn<T>>]: ValueAt<T[K]> } & {
    readonly [K in keyof T as Extract<K, OptionalIn<T>>]?: ValueAt<T[K]>;
  }
>;

/** The values of an object without any key. */
export function defaultsOf<T extends KeyTable>(table: T): ValuesOf<T> {
  const usual = Object.entries(table).flatMap(([name, { usual: value }]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return Object.fromEntries(usual) as ValuesOf<T>;
}

/** The names of the keys for which `holds`. */
export function keysWhere(table: KeyTable, holds: (key: Key<unknown>) => boolean): readonly string[] {
  return Object.keys(table).filter((name) => {
    const each = table[name];
    return each !== undefined && holds(each);
  });
}
