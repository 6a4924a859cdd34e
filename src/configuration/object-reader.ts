// Reads one object of a configuration key by key, collects every problem with its field, and reports keys that nobody asked
// for. Hand-made because it runs at the start of every call: zod/mini costs as much as a fifth of Node's own start there
// (docs/reference/performance.md); the schema for tools and people is schema.ts, and a test holds both together.

import { describeJson, isJsonObject } from "../json/document.ts";
import { closest } from "./closest.ts";

/** More valid keys than this are not listed beside the one that was meant. */
const mostListed = 12;

export class ObjectReader {
  readonly problems: string[];
  readonly #object: Readonly<Record<string, unknown>>;
  readonly #path: string;
  readonly #asked = new Set<string>();

  /** Reads `object`, whose place in the configuration is `path` ("" for the configuration itself). */
  constructor(object: Readonly<Record<string, unknown>>, path = "", problems: string[] = []) {
    this.#object = object;
    this.#path = path;
    this.problems = problems;
  }

  /** The value under the key, whatever it is; undefined where there is none. */
  value(key: string): unknown {
    this.#asked.add(key);
    return Object.hasOwn(this.#object, key) ? this.#object[key] : undefined;
  }

  string(key: string): string | undefined {
    return this.#typed(key, "a non-empty string", (value) => (typeof value === "string" && value !== "" ? value : undefined));
  }

  /** Any string; for keys whose empty value means something. */
  text(key: string): string | undefined {
    return this.#typed(key, "a string", (value) => (isString(value) ? value : undefined));
  }

  /** A string that matches; `wanted` says in words what that is. */
  matching(key: string, pattern: RegExp, wanted: string): string | undefined {
    return this.#typed(key, wanted, (value) => (typeof value === "string" && pattern.test(value) ? value : undefined));
  }

  boolean(key: string): boolean | undefined {
    return this.#typed(key, "true or false", (value) => (typeof value === "boolean" ? value : undefined));
  }

  absolutePath(key: string): string | undefined {
    return this.#typed(key, "an absolute path", (value) => (isAbsolutePath(value) ? value : undefined));
  }

  absolutePaths(key: string): readonly string[] | undefined {
    return this.#typed(key, "a list of absolute paths", (value) => listOf(value, isAbsolutePath));
  }

  /** An absolute path, or the empty string, with which Go's programs say that there is none. */
  absolutePathOrEmpty(key: string): string | undefined {
    const path = this.#typed(key, "an absolute path", (value) => (value === "" || isAbsolutePath(value) ? value : undefined));
    return path === "" ? undefined : path;
  }

  strings(key: string): readonly string[] | undefined {
    return this.#typed(key, "a list of strings", (value) => listOf(value, isString));
  }

  /** A list of strings that all match; `wanted` says in words what each must be. */
  allMatching(key: string, pattern: RegExp, wanted: string): readonly string[] | undefined {
    const list = this.#typed(key, `a list, each ${wanted}`, (value) => (isList(value) ? value : undefined));
    return list?.flatMap((element, index) => {
      if (typeof element === "string" && pattern.test(element)) return [element];
      this.refuse(`${key}.${index}`, `must be ${wanted}, but is ${told(element)}`);
      return [];
    });
  }

  /** A whole number from `least` to `most`. */
  count(key: string, most: number, least: 0 | 1 = 1): number | undefined {
    return this.#typed(key, `a whole number from ${least} to ${most}`, (value) =>
      typeof value === "number" && Number.isInteger(value) && value >= least && value <= most ? value : undefined,
    );
  }

  oneOf<T extends string>(key: string, words: readonly T[]): T | undefined {
    return this.#typed(key, `one of ${words.join(", ")}`, (value) => words.find((word) => word === value));
  }

  object(key: string): ObjectReader | undefined {
    const object = this.#typed(key, "an object", (value) => (isJsonObject(value) ? value : undefined));
    return object === undefined ? undefined : new ObjectReader(object, this.#at(key), this.problems);
  }

  /** A list of at least one object. */
  objects(key: string): readonly ObjectReader[] | undefined {
    const list = this.#typed(key, "a list of at least one object", (value) =>
      Array.isArray(value) && value.length > 0 ? value : undefined,
    );
    return list?.flatMap((element: unknown, index) => {
      if (isJsonObject(element)) return [new ObjectReader(element, `${this.#at(key)}.${index}`, this.problems)];
      this.refuse(`${key}.${index}`, `must be an object, but is ${told(element)}`);
      return [];
    });
  }

  /** The keys, for tables whose keys are names. */
  keys(): readonly string[] {
    return Object.keys(this.#object);
  }

  /** Notes the keys that must be there and aren't. */
  require(...keys: readonly string[]): void {
    for (const key of keys) if (this.value(key) === undefined) this.refuse(key, "is missing");
  }

  /** Every key with its object: for tables whose keys are names. */
  entries(): readonly (readonly [key: string, reader: ObjectReader])[] {
    return Object.keys(this.#object).flatMap((key) => {
      const reader = this.object(key);
      return reader === undefined ? [] : [[key, reader] as const];
    });
  }

  /** Notes a problem with a key. */
  refuse(key: string, why: string): void {
    this.problems.push(`${this.#at(key)}: ${why}`);
  }

  /** Reports the keys that were not asked for, each with the nearest one that was, and with all of them where these are few (E-8). */
  end(): void {
    const valid = [...this.#asked];
    for (const key of Object.keys(this.#object)) {
      if (this.#asked.has(key)) continue;
      const nearest = closest(key, valid);
      const meant = nearest === undefined ? [] : [`did you mean ${nearest}?`];
      const listed = nearest === undefined || valid.length <= mostListed ? [`valid ones: ${valid.join(", ")}`] : [];
      this.refuse(key, `no such key; ${[...meant, ...listed].join(" ")}`);
    }
  }

  #typed<T>(key: string, wanted: string, read: (value: unknown) => T | undefined): T | undefined {
    const value = this.value(key);
    if (value === undefined) return undefined;
    const typed = read(value);
    if (typed === undefined) this.refuse(key, `must be ${wanted}, but is ${told(value)}`);
    return typed;
  }

  #at(key: string): string {
    return this.#path === "" ? key : `${this.#path}.${key}`;
  }
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

function isAbsolutePath(value: unknown): value is string {
  return typeof value === "string" && value.startsWith("/") && !value.includes("\0");
}

function listOf<T>(value: unknown, is: (element: unknown) => element is T): readonly T[] | undefined {
  return Array.isArray(value) && value.every(is) ? value : undefined;
}

/** Scalars as they are, for a message that can be searched for; what is longer by its kind. */
function told(value: unknown): string {
  const text = typeof value === "object" ? undefined : JSON.stringify(value);
  return text !== undefined && text.length <= 60 ? text : describeJson(value);
}
