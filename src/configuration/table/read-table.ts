// Reads an object by a table of keys. It runs at the start of every call.

import type { ObjectReader, ValidNames } from "../object-reader.ts";
import { type Key, type KeyTable, keysWhere, type ValuesOf } from "./key.ts";

/** Reads objects by a table. Most tables are of sections that a call does not have, so a table is prepared when it is needed. */
export class TableReader<T extends KeyTable> {
  readonly table: T;
  /** The keys for the refusal of an unknown one. */
  readonly names: ValidNames;
  readonly #isSparse: boolean;
  #entries: readonly (readonly [string, Key<unknown>])[] | undefined;

  /** `isSparse`: the values lack defaults, which their user knows. */
  constructor(table: T, isSparse = false) {
    this.table = table;
    this.#isSparse = isSparse;
    this.names = {
      has: (key) => Object.hasOwn(table, key),
      listed: () => keysWhere(table, (key) => !isForNobody(key)),
      further: () => keysWhere(table, isForNobody),
    };
  }

  /** Reads the keys in the table's order. `notices` gets the sentences about values. The caller ends the reader with `names`. */
  read(reader: ObjectReader, notices: string[] = []): ValuesOf<T> {
    const values: Record<string, unknown> = {};
    this.#entries ??= Object.entries(this.table);
    for (const [key, facts] of this.#entries) {
      const value = reader.has(key) ? readKey(reader, key, facts, notices) : missing(reader, key, facts);
      const valueOrUsual = value === undefined && !this.#isSparse ? facts.usual : value;
      if (valueOrUsual !== undefined) values[key] = valueOrUsual;
    }
    return values as ValuesOf<T>;
  }
}

/** Whether an administrator should not add the key. */
function isForNobody({ isUnlisted, byRuntime }: Key<unknown>): boolean {
  return isUnlisted === true || byRuntime === true;
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
