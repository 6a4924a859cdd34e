// Reads a configuration. Each accessor names the field in its fault, so that an administrator finds it.

import { Fault, Network } from "./abi/types";
import { Json } from "./json";
import { parseJson } from "./json-parse";
import { invalidConfig, notDecoded } from "./faults";
import { Some } from "./some";

/**
 * An object of the configuration with its path. The first mistake is kept in {@link Config.fault}; later reads answer as if the
 * member were absent, so that a delegate checks once, at the end.
 */
export class Config {
  readonly json: Json;
  readonly path: string;
  private readonly firstFault: FirstFault;

  private constructor(json: Json, path: string, firstFault: FirstFault) {
    this.json = json;
    this.path = path;
    this.firstFault = firstFault;
  }

  /**
   * The plugin's configuration. A text that is not a JSON object causes a fault at once (the host normally refuses it earlier).
   */
  static of(network: Network): Config {
    const firstFault = new FirstFault();
    const parsed = parseJson(network.config);
    const value = parsed.value;
    if (value !== null && value.isObject) return new Config(value, "", firstFault);
    firstFault.fault = notDecoded(
      value === null ? `the configuration is not JSON: ${parsed.error}` : "the configuration is not a JSON object",
    );
    return new Config(Json.object(), "", firstFault);
  }

  /** The first mistake anywhere in this configuration. */
  get fault(): Fault | null {
    return this.firstFault.fault;
  }

  /** The path of a member, e.g. `ipam.ranges[0][1].subnet`. */
  where(key: string): string {
    return this.path == "" ? key : `${this.path}.${key}`;
  }

  /** Records a mistake in a member, unless there is an earlier one. */
  refuse(key: string, why: string): void {
    if (this.firstFault.fault === null) this.firstFault.fault = invalidConfig(this.where(key), why);
  }

  /** A member that is present and not null. */
  member(key: string): Json | null {
    return this.json.presentMember(key);
  }

  has(key: string): bool {
    return this.json.presentMember(key) !== null;
  }

  /** A nested object; null if absent. */
  object(key: string): Config | null {
    const value = this.member(key);
    if (value === null) return null;
    if (value.isObject) return new Config(value, this.where(key), this.firstFault);
    this.refuse(key, `must be an object, is ${value.kindName}`);
    return null;
  }

  /** A list of nested objects; empty if absent. */
  objects(key: string): Array<Config> {
    const found = new Array<Config>();
    const list = this.list(key);
    if (list === null) return found;
    for (let i = 0; i < list.length; i++) {
      if (list.at(i).isObject) found.push(new Config(list.at(i), `${this.where(key)}[${i}]`, this.firstFault));
      else this.refuse(`${key}[${i}]`, `must be an object, is ${list.at(i).kindName}`);
    }
    return found;
  }

  /** An object with a path from the caller, for structures that the other accessors cannot read. */
  within(json: Json, path: string): Config {
    return new Config(json, this.where(path), this.firstFault);
  }

  string(key: string): string | null {
    const value = this.member(key);
    if (value === null) return null;
    const text = value.asStringOrNull();
    if (text === null) this.refuse(key, `must be a string, is ${value.kindName}`);
    return text;
  }

  /** A list of strings; null if absent. */
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

  /** A boolean; `defaultValue` if absent. */
  bool(key: string, defaultValue: bool): bool {
    const value = this.member(key);
    if (value === null) return defaultValue;
    if (!value.isBool) this.refuse(key, `must be a boolean, is ${value.kindName}`);
    return value.isTrue;
  }

  /** A whole number; null if absent. */
  integer(key: string): Some<i64> | null {
    const value = this.member(key);
    if (value === null) return null;
    const number = value.asI64OrNull();
    if (number === null) this.refuse(key, `must be a whole number, is ${value.isNumber ? value.numberText : value.kindName}`);
    return number;
  }

  /** A list; null if absent. */
  list(key: string): Json | null {
    const value = this.member(key);
    if (value === null) return null;
    if (value.isArray) return value;
    this.refuse(key, `must be an array, is ${value.kindName}`);
    return null;
  }

  /** Refuses members that are not in `known`, so that typos are reported. */
  only(known: Array<string>): void {
    for (let i = 0; i < this.json.length; i++) {
      const key = this.json.keyAt(i);
      if (!known.includes(key)) this.refuse(key, `is unknown; known are ${known.join(", ")}`);
    }
  }
}

/** Shared by all objects of one configuration. */
class FirstFault {
  fault: Fault | null = null;
}
