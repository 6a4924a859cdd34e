// The kinds of objects: sections with keys of a table, lists of them, and objects whose keys are names.

import type { ObjectReader, ValidNames } from "../object-reader.ts";
import { type KeyTable, type ValuesOf, type Key, keysWhere } from "./key.ts";
import type { Kind, TextRule } from "./kind.ts";
import { textSchema } from "./kinds.ts";
import { tableSchema } from "./table-schema.ts";

/** The reading of a section beyond its keys. */
interface SectionRules<V, R> {
  /** Checks keys against each other, and makes the section's value. */
  readonly finish: (values: V, reader: ObjectReader) => R;
  /** The value of a section with a mistake, in a call that goes on; undefined: as without the section. */
  readonly flawed?: (value: NoInfer<R>) => NoInfer<R> | undefined;
}

/** The kind of a section. */
export interface SectionKind<R> extends Kind<R> {
  /** Reads an object as the section. */
  readonly readObject: (reader: ObjectReader) => R | undefined;
}

/** An object with the keys of a table. */
export function section<T extends KeyTable>(table: T): SectionKind<ValuesOf<T>>;
/** An object with the keys of a table, and further rules. */
export function section<T extends KeyTable, R>(table: T, rules: SectionRules<ValuesOf<T>, R>): SectionKind<R>;
export function section<T extends KeyTable, R>(table: T, rules?: SectionRules<ValuesOf<T>, R>): SectionKind<R> {
  return sectionOf(new TableReader(table), rules);
}

/** As `section`, without defaults: their user knows them. */
export function sparseSection<T extends KeyTable>(table: T): SectionKind<Partial<ValuesOf<T>>> {
  return sectionOf<T, Partial<ValuesOf<T>>>(new TableReader(table, true));
}

function sectionOf<T extends KeyTable, R>(prepared: TableReader<T>, rules?: SectionRules<ValuesOf<T>, R>): SectionKind<R> {
  const readObject = (reader: ObjectReader): R | undefined => {
    const before = reader.problems.length;
    const values = prepared.read(reader);
    const value = rules === undefined ? (values as unknown as R) : rules.finish(values, reader);
    reader.end(prepared.names);
    return reader.problems.length > before && rules?.flawed !== undefined ? rules.flawed(value) : value;
  };
  return {
    readObject,
    read: (reader, key) => {
      const inner = reader.object(key);
      return inner === undefined ? undefined : readObject(inner);
    },
    schema: () => tableSchema(prepared.table),
  };
}

/** A list of 1 to `max` sections. */
export function listOfSections<R>(kind: SectionKind<R>, max: number): Kind<readonly R[]> {
  return {
    read: (reader, key) =>
      reader.objects(key, max)?.flatMap((each) => {
        const value = kind.readObject(each);
        return value === undefined ? [] : [value];
      }),
    schema: () => ({ type: "array", items: kind.schema(), minItems: 1, ...(max === Infinity ? {} : { maxItems: max }) }),
  };
}

/** The rule for names that are keys of an object; `wrong` ends the sentence about a wrong one. */
export interface NameRule extends Pick<TextRule, "pattern"> {
  readonly wrong: string;
}

/** An object whose keys are names, with values of one kind. */
export function named<T>(kind: Kind<T>, names?: NameRule): Kind<Readonly<Record<string, T>>> {
  return {
    read: (reader, key) => {
      const inner = reader.object(key);
      return inner && Object.fromEntries(inner.keys().flatMap((each) => readNamed(inner, each, kind, names)));
    },
    schema: () => ({
      type: "object",
      propertyNames: names === undefined ? { type: "string" } : textSchema(names),
      additionalProperties: kind.schema(),
    }),
  };
}

function readNamed<T>(reader: ObjectReader, name: string, kind: Kind<T>, names: NameRule | undefined): [string, T][] {
  const value = kind.read(reader, name);
  const isNamed = names === undefined || names.pattern.test(name);
  if (!isNamed) reader.refuse(name, names.wrong);
  return isNamed && value !== undefined ? [[name, value]] : [];
}

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
