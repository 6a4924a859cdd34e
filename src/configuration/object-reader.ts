// Reads one configuration object key by key, collects every problem with its field, and reports unknown keys. Written by hand
// because it runs at the start of every call: zod/mini costs as much as a fifth of Node's own start
// (docs/reference/performance.md).

import { redacted, withoutSecrets, isSecretKey } from "../fault/without-secrets.ts";
import { describeJson, isJsonObject } from "../json/document.ts";
import { closest, nearestFirst } from "./closest.ts";

/** A suggestion is followed by the list of valid keys only up to this many keys. */
const maxListed = 16;

/** The texts that libcni reads as booleans. */
export const flagPattern = /^(?:true|false)$/i;

/** Number of unknown keys of one object that have a message each. */
const maxUnknown = 10;

/** The valid keys of an object, for the refusal of another one. */
export interface ValidNames {
  readonly has: (key: string) => boolean;
  /** The keys that a refusal lists. */
  readonly listed: () => readonly string[];
  /** Keys that an administrator should not add: a refusal names them only as the nearest one, if none of `listed` is near. */
  readonly further?: () => readonly string[];
}

/** Reads one object. Each reading method answers undefined for a missing or invalid key, and records a problem if it is invalid. */
export class ObjectReader {
  readonly problems: string[];
  readonly #object: Readonly<Record<string, unknown>>;
  readonly #path: string;
  #asked: Set<string> | undefined;
  #hasUnknownKeys = false;

  /** Reads `object`, which is at `path` in the configuration ("" for the configuration itself). */
  constructor(object: Readonly<Record<string, unknown>>, path = "", problems: string[] = []) {
    this.#object = object;
    this.#path = path;
    this.problems = problems;
  }

  /** The value of the key, of any type; undefined if the key is missing. */
  value(key: string): unknown {
    (this.#asked ??= new Set()).add(key);
    return Object.hasOwn(this.#object, key) ? this.#object[key] : undefined;
  }

  /** Whether the object has the key. The question makes no key valid. */
  has(key: string): boolean {
    return Object.hasOwn(this.#object, key) && this.#object[key] !== undefined;
  }

  string(key: string): string | undefined {
    return this.#typed(key, "a non-empty string", (value) => (typeof value === "string" && value !== "" ? value : undefined));
  }

  /** Any string, for keys whose empty value has a meaning. */
  text(key: string): string | undefined {
    return this.#typed(key, "a string", (value) => (isString(value) ? value : undefined));
  }

  /** A string that matches `pattern`; `wanted` describes it in messages. */
  matching(key: string, pattern: RegExp, wanted: string): string | undefined {
    return this.#typed(key, wanted, (value) => (typeof value === "string" && pattern.test(value) ? value : undefined));
  }

  boolean(key: string): boolean | undefined {
    return this.#typed(key, "true or false", (value) => (typeof value === "boolean" ? value : undefined));
  }

  /** A boolean, or "true" or "false" in any case of letters, as libcni reads the flags of a list (L-17). */
  flag(key: string): boolean | undefined {
    const value = this.#typed(key, "true or false", (found) =>
      typeof found === "boolean" || (typeof found === "string" && flagPattern.test(found)) ? found : undefined,
    );
    return typeof value === "string" ? value.toLowerCase() === "true" : value;
  }

  absolutePath(key: string): string | undefined {
    return this.#typed(key, "an absolute path", (value) => (isAbsolutePath(value) ? value : undefined));
  }

  absolutePaths(key: string): readonly string[] | undefined {
    return this.#typed(key, "a list of absolute paths", (value) => listOf(value, isAbsolutePath));
  }

  /** An absolute path, or the empty string, which in Go programs means no path. */
  absolutePathOrEmpty(key: string): string | undefined {
    const path = this.#typed(key, "an absolute path", (value) => (value === "" || isAbsolutePath(value) ? value : undefined));
    return path === "" ? undefined : path;
  }

  strings(key: string): readonly string[] | undefined {
    return this.#typed(key, "a list of strings", (value) => listOf(value, isString));
  }

  /** A list of strings that all match `pattern`; `wanted` describes an element in messages. */
  allMatching(key: string, pattern: RegExp, wanted: string): readonly string[] | undefined {
    const list = this.#typed(key, `a list, each ${wanted}`, (value) => (isList(value) ? value : undefined));
    return list?.flatMap((element, index) => {
      if (typeof element === "string" && pattern.test(element)) return [element];
      this.refuse(`${key}.${index}`, `must be ${wanted}, but is ${shown(element)}`);
      return [];
    });
  }

  /** A whole number from `min` to `max`. */
  count(key: string, max: number, min: 0 | 1 = 1): number | undefined {
    return this.#typed(key, `a whole number from ${min} to ${max}`, (value) =>
      typeof value === "number" && Number.isInteger(value) && value >= min && value <= max ? value : undefined,
    );
  }

  oneOf<T extends string>(key: string, values: readonly T[]): T | undefined {
    return this.#typed(key, `one of ${values.join(", ")}`, (value) => values.find((each) => each === value));
  }

  object(key: string): ObjectReader | undefined {
    const object = this.#typed(key, "an object", (value) => (isJsonObject(value) ? value : undefined));
    return object === undefined ? undefined : this.at(key, object);
  }

  /** The reader of an object within this one, at `place` below it. */
  at(place: string, object: Readonly<Record<string, unknown>>): ObjectReader {
    return new ObjectReader(object, this.#at(place), this.problems);
  }

  /** A list of 1 to `max` objects. */
  objects(key: string, max = Infinity): readonly ObjectReader[] | undefined {
    const wanted = max === Infinity ? "a list of at least one object" : `a list of 1 to ${max} objects`;
    const list = this.#typed(key, wanted, (value) => (Array.isArray(value) && value.length > 0 ? value : undefined));
    if (list !== undefined && list.length > max) {
      this.refuse(key, `must be ${wanted}, but has ${list.length}`);
      return undefined;
    }
    return list?.flatMap((element: unknown, index) => {
      if (isJsonObject(element)) return [this.at(`${key}.${index}`, element)];
      this.refuse(`${key}.${index}`, `must be an object, but is ${shown(element)}`);
      return [];
    });
  }

  /** All keys, for tables whose keys are names. */
  keys(): readonly string[] {
    return Object.keys(this.#object);
  }

  /** Notes required keys that are missing. */
  require(...keys: readonly string[]): void {
    for (const key of keys) if (this.value(key) === undefined) this.refuse(key, "is missing");
  }

  /** Every key with its object, for tables whose keys are names. */
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

  /** After `end`: whether this object itself has an unknown key. */
  get hasUnknownKeys(): boolean {
    return this.#hasUnknownKeys;
  }

  /**
   * Reports unknown keys, each with its value, and with the nearest valid key, or with all valid keys if these are few (E-8). Without
   * `valid` the keys that were asked for are valid. Keys for which `isForeign` holds belong to another reader.
   */
  end(valid: ValidNames = this.#askedNames(), isForeign: (key: string) => boolean = () => false): void {
    const unknown = Object.keys(this.#object).filter((key) => !valid.has(key) && !isForeign(key));
    this.#hasUnknownKeys = unknown.length > 0;
    if (unknown.length > maxUnknown) {
      const place = this.#path === "" ? "" : `${this.#path}: `;
      this.problems.push(`${place}${unknown.length - maxUnknown} further keys are unknown, too`);
    }
    for (const key of unknown.slice(0, maxUnknown)) {
      this.refuse(key, `no such key; ${adviceFor(key, valid)} (found ${memberShown(key, this.#object[key])})`);
    }
  }

  #askedNames(): ValidNames {
    const asked = this.#asked ?? new Set();
    return { has: (key) => asked.has(key), listed: () => [...asked] };
  }

  #typed<T>(key: string, wanted: string, read: (value: unknown) => T | undefined): T | undefined {
    const value = this.value(key);
    if (value === undefined) return undefined;
    const typed = read(value);
    if (typed === undefined) this.refuse(key, `must be ${wanted}, but is ${shown(value)}`);
    return typed;
  }

  #at(key: string): string {
    return this.#path === "" ? key : `${this.#path}.${key}`;
  }
}

/** The nearest valid key, and all of them if they are few, in their own order, or if none is near: then the nearest come first. */
function adviceFor(key: string, valid: ValidNames): string {
  const listed = valid.listed();
  const nearest = closest(key, listed) ?? closest(key, valid.further?.() ?? []);
  const meant = nearest === undefined ? [] : [`did you mean ${nearest}?`];
  if (listed.length <= maxListed) return [...meant, `valid ones: ${listed.join(", ")}`].join(" ");
  return meant[0] ?? `valid ones: ${nearestFirst(key, listed).join(", ")}`;
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

/** Longest text of a value in a message, in UTF-16 units. */
const maxShown = 200;
const maxSearched = 4096;

/** `"key": value` as JSON in printable ASCII, without a value that may be a secret by the name of its key. */
function memberShown(key: string, value: unknown): string {
  // Secrets are searched for beyond the shown part, so that the part has no beginning of one.
  const json = (JSON.stringify(value) ?? "null").slice(0, maxSearched);
  const text = isSecretKey(key) ? `"${redacted}"` : withoutSecrets(json);
  const cut = text.length > maxShown ? `${text.slice(0, maxShown)}…` : text;
  return `${JSON.stringify(key)}: ${cut}`.replaceAll(/[^ -~…]/g, escaped);
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Scalars as written, so that a message can be searched for; longer values by their type. */
function shown(value: unknown): string {
  const text = typeof value === "object" ? undefined : JSON.stringify(value);
  return text !== undefined && text.length <= 60 ? text : describeJson(value);
}
