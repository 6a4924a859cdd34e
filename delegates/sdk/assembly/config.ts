// Reading a configuration: each accessor names the field in its fault, so that an administrator finds it.

import { Fault, Network } from "./abi/types";
import { Json } from "./json";
import { parseJson } from "./json-parse";
import { invalidConfig, notDecoded } from "./faults";
import { Some } from "./some";

/**
 * An object of the configuration with its place. The first thing that is wrong is kept in {@link Config.fault}; what is
 * asked for after that answers as if absent, so that a delegate checks once, at the end.
 */
export class Config {
  readonly json: Json;
  readonly path: string;
  private readonly trouble: Trouble;

  private constructor(json: Json, path: string, trouble: Trouble) {
    this.json = json;
    this.path = path;
    this.trouble = trouble;
  }

  /** The plugin's configuration. If it is no JSON object (the host has seen to it that it is), there is a fault at once. */
  static of(network: Network): Config {
    const trouble = new Trouble();
    const parsed = parseJson(network.config);
    const value = parsed.value;
    if (value !== null && value.isObject) return new Config(value, "", trouble);
    trouble.first = notDecoded(
      value === null ? `the configuration is not JSON: ${parsed.error}` : "the configuration is no object",
    );
    return new Config(Json.object(), "", trouble);
  }

  /** What was wrong first, anywhere in this configuration. */
  get fault(): Fault | null {
    return this.trouble.first;
  }

  /** Where a member is, e.g. `ipam.ranges[0][1].subnet`. */
  where(key: string): string {
    return this.path == "" ? key : `${this.path}.${key}`;
  }

  /** Records that a member is wrong, unless something was before. */
  refuse(key: string, why: string): void {
    if (this.trouble.first === null) this.trouble.first = invalidConfig(this.where(key), why);
  }

  /** A member that is given and not null. */
  member(key: string): Json | null {
    return this.json.given(key);
  }

  has(key: string): bool {
    return this.json.given(key) !== null;
  }

  /** An object within; null where it is absent. */
  object(key: string): Config | null {
    const value = this.member(key);
    if (value === null) return null;
    if (value.isObject) return new Config(value, this.where(key), this.trouble);
    this.refuse(key, `must be an object, is ${value.kindName}`);
    return null;
  }

  /** A list of objects within; empty where it is absent. */
  objects(key: string): Array<Config> {
    const found = new Array<Config>();
    const list = this.list(key);
    if (list === null) return found;
    for (let i = 0; i < list.length; i++) {
      if (list.at(i).isObject) found.push(new Config(list.at(i), `${this.where(key)}[${i}]`, this.trouble));
      else this.refuse(`${key}[${i}]`, `must be an object, is ${list.at(i).kindName}`);
    }
    return found;
  }

  /** An object at a place that the caller knows, for structures that the other accessors don't fit. */
  within(json: Json, path: string): Config {
    return new Config(json, this.where(path), this.trouble);
  }

  string(key: string): string | null {
    const value = this.member(key);
    if (value === null) return null;
    const text = value.asStringOrNull();
    if (text === null) this.refuse(key, `must be a string, is ${value.kindName}`);
    return text;
  }

  /** A list of strings; null where it is absent. */
  strings(key: string): Array<string> | null {
    const list = this.list(key);
    if (list === null) return null;
    const found = new Array<string>();
    for (let i = 0; i < list.length; i++) {
      const text = list.at(i).asStringOrNull();
      if (text === null) this.refuse(`${key}[${i}]`, `must be a string, is ${list.at(i).kindName}`);
      else found.push(text);
    }
    return found;
  }

  /** A boolean; `otherwise` where it is absent. */
  bool(key: string, otherwise: bool): bool {
    const value = this.member(key);
    if (value === null) return otherwise;
    if (!value.isBool) this.refuse(key, `must be a boolean, is ${value.kindName}`);
    return value.isTrue;
  }

  /** A whole number; null where it is absent. */
  integer(key: string): Some<i64> | null {
    const value = this.member(key);
    if (value === null) return null;
    const number = value.asI64OrNull();
    if (number === null) this.refuse(key, `must be a whole number, is ${value.isNumber ? value.numberText : value.kindName}`);
    return number;
  }

  /** A list; null where it is absent. */
  list(key: string): Json | null {
    const value = this.member(key);
    if (value === null) return null;
    if (value.isArray) return value;
    this.refuse(key, `must be an array, is ${value.kindName}`);
    return null;
  }

  /** Refuses members that are not in `known`: a typo must not be silent. */
  only(known: Array<string>): void {
    for (let i = 0; i < this.json.length; i++) {
      const key = this.json.keyAt(i);
      if (!known.includes(key)) this.refuse(key, `is unknown; known are ${known.join(", ")}`);
    }
  }
}

class Trouble {
  first: Fault | null = null;
}
