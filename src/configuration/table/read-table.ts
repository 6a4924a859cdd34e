// Reads an object by a table of keys. It runs at the start of every call, so a table is prepared once.

import type { ObjectReader, ValidNames } from "../object-reader.ts";
import { defaultsOf, type Key, type KeyTable, keysWhere, type ValuesOf } from "./key.ts";

/** A table prepared for reading. */
export interface TableReader<T extends KeyTable> {
  readonly table: T;
  /** The values of an object without any key. */
  readonly defaults: ValuesOf<T>;
  /** The keys for the refusal of an unknown one. */
  readonly names: ValidNames;
  /** Reads the keys in the table's order. `notices` gets the sentences about values. The caller ends the reader with `names`. */
  readonly read: (reader: ObjectReader, notices?: string[]) => ValuesOf<T>;
}

/** Prepares a table. `isSparse`: the values lack defaults, which their user knows. */
export function tableReader<T extends KeyTable>(table: T, isSparse = false): TableReader<T> {
  const entries = Object.entries<Key<unknown>>(table);
  const further = keysWhere(table, ({ isUnlisted, byRuntime }) => isUnlisted === true || byRuntime === true);
  const listed = Object.keys(table).filter((each) => !further.includes(each));
  return {
    table,
    defaults: defaultsOf(isSparse ? {} : table) as ValuesOf<T>,
    names: { has: (key) => Object.hasOwn(table, key), listed, further },
    read: (reader, notices = []) => {
      const values: Record<string, unknown> = {};
      for (const [key, facts] of entries) {
        const value = reader.has(key) ? readKey(reader, key, facts, notices) : missing(reader, key, facts);
        const valueOrUsual = value === undefined && !isSparse ? facts.usual : value;
        if (valueOrUsual !== undefined) values[key] = valueOrUsual;
      }
      return values as ValuesOf<T>;
    },
  };
}

function missing(reader: ObjectReader, key: string, { required }: Key<unknown>): undefined {
  if (required === true) reader.refuse(key, "is missing");
}

function readKey(reader: ObjectReader, key: string, { kind, mistaken, notice }: Key<unknown>, notices: string[]): unknown {
  const before = reader.problems.length;
  const value = kind.read(reader, key);
  const note = notice?.(reader.value(key));
  if (note !== undefined) notices.push(note);
  return value === undefined && reader.problems.length > before ? mistaken : value;
}
