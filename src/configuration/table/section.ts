// The kinds of objects: sections with keys of a table, lists of them, and objects whose keys are names.

import type { ObjectReader } from "../object-reader.ts";
import type { KeyTable, ValuesOf } from "./key.ts";
import type { Kind, TextRule } from "./kind.ts";
import { textSchema } from "./kinds.ts";
import { TableReader } from "./read-table.ts";
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
