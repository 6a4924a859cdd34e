// The kinds of single values: texts, numbers, booleans, paths.

import { flagPattern } from "../object-reader.ts";
import type { JsonSchema, Kind, TextRule } from "./kind.ts";

/** Any value, which another reader reads, or none. */
export const readElsewhere: Kind<never> = { read: () => undefined, schema: () => ({}) };

/** Any text. The empty text means the default. */
export const text: Kind<string> = {
  read: (reader, key) => reader.text(key) || undefined,
  schema: () => ({ type: "string" }),
};

/** A text with at least one character. */
export const nonEmptyText: Kind<string> = {
  read: (reader, key) => reader.string(key),
  schema: () => ({ type: "string", minLength: 1 }),
};

export const boolean: Kind<boolean> = {
  read: (reader, key) => reader.boolean(key),
  schema: () => ({ type: "boolean" }),
};

/** A boolean as libcni reads the flags of a list (L-17). */
export const flag: Kind<boolean> = {
  read: (reader, key) => reader.flag(key),
  schema: () => ({ anyOf: [{ type: "boolean" }, { type: "string", pattern: patternText(flagPattern) }] }),
};

/** A kind of whole numbers. */
export interface CountKind extends Kind<number> {
  readonly max: number;
}

/** A whole number from `min` to `max`. */
export function count(max: number, min: 0 | 1 = 1): CountKind {
  return {
    max,
    read: (reader, key) => reader.count(key, max, min),
    schema: () => ({ type: "integer", minimum: min, maximum: max }),
  };
}

/** A number of bytes, in whole KiB as far as descriptions show it. */
export function bytes(max: number): CountKind {
  return { ...count(max), show: inKibibytes };
}

function inKibibytes(value: unknown): string {
  const kibibytes = Number(value) / 1024;
  return kibibytes % 1024 === 0 ? `${kibibytes / 1024} MiB` : `${kibibytes} KiB`;
}

/** One of these words. */
export function oneOf<const T extends string>(values: readonly T[]): Kind<T> {
  return { read: (reader, key) => reader.oneOf(key, values), schema: () => ({ type: "string", enum: values }) };
}

/** A text that matches a pattern. If the pattern allows the empty text, it means the default. */
export function matching({ pattern, wanted }: TextRule): Kind<string> {
  return {
    read: (reader, key) => reader.matching(key, pattern, wanted) || undefined,
    schema: () => textSchema({ pattern }),
  };
}

export const absolutePath: Kind<string> = {
  read: (reader, key) => reader.absolutePath(key),
  schema: () => ({ type: "string", pattern: patternText(/^\/[^\0]*$/) }),
};

/** An absolute path. The empty text, which Go programs write for no path, means the default. */
export const pathOrEmpty: Kind<string> = {
  read: (reader, key) => reader.absolutePathOrEmpty(key),
  schema: () => ({ type: "string", pattern: patternText(/^(?:\/[^\0]*)?$/) }),
};

/** A path in its shortest spelling, for paths that are compared and extended as text. */
export function plain(path: Kind<string>): Kind<string> {
  return {
    ...path,
    read: (reader, key) => {
      const written = path.read(reader, key);
      return written === undefined ? undefined : plainPath(written);
    },
  };
}

function plainPath(path: string): string {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}

/** The JSON Schema of a text that matches a pattern. */
export function textSchema({ pattern }: Pick<TextRule, "pattern">): JsonSchema {
  return { type: "string", pattern: patternText(pattern) };
}

/** The pattern without flags, which JSON Schema lacks: a pattern for any case gets both cases of each letter. */
function patternText({ source, ignoreCase }: RegExp): string {
  return ignoreCase ? source.replaceAll(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`) : source;
}
