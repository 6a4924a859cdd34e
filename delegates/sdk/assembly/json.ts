// JSON as a small tree. Numbers keep their text, so that they pass through a delegate unchanged; objects keep the order of their
// keys. Parsing never aborts (see json-parse.ts). A delegate checks `kind` or calls an `as…OrNull` method.

import { hex } from "./hex";
import { Some } from "./some";

/** The kinds of JSON values. */
export enum JsonKind {
  Null,
  Bool,
  Number,
  String,
  Array,
  Object,
}

/** One value. */
export class Json {
  readonly kind: JsonKind;
  /** A string's value, or a number's original text. */
  private text: string = "";
  private truth: bool = false;
  private keyList: Array<string> | null = null;
  private items: Array<Json> | null = null;

  private constructor(kind: JsonKind) {
    this.kind = kind;
  }

  static null_(): Json {
    return new Json(JsonKind.Null);
  }

  static bool(value: bool): Json {
    const made = new Json(JsonKind.Bool);
    made.truth = value;
    return made;
  }

  static string(value: string): Json {
    const made = new Json(JsonKind.String);
    made.text = value;
    return made;
  }

  static integer(value: i64): Json {
    return Json.number(value.toString());
  }

  /** A number from its text, which must be valid JSON. */
  static number(text: string): Json {
    const made = new Json(JsonKind.Number);
    made.text = text;
    return made;
  }

  static array(): Json {
    const made = new Json(JsonKind.Array);
    made.items = new Array<Json>();
    return made;
  }

  static object(): Json {
    const made = new Json(JsonKind.Object);
    made.items = new Array<Json>();
    made.keyList = new Array<string>();
    return made;
  }

  get isNull(): bool {
    return this.kind == JsonKind.Null;
  }
  get isBool(): bool {
    return this.kind == JsonKind.Bool;
  }
  get isNumber(): bool {
    return this.kind == JsonKind.Number;
  }
  get isString(): bool {
    return this.kind == JsonKind.String;
  }
  get isArray(): bool {
    return this.kind == JsonKind.Array;
  }
  get isObject(): bool {
    return this.kind == JsonKind.Object;
  }

  /** The string's value; null for another kind. */
  asStringOrNull(): string | null {
    return this.isString ? this.text : null;
  }

  /** True only for the value `true`. */
  get isTrue(): bool {
    return this.isBool && this.truth;
  }

  /** The text of a number, "" for another kind. */
  get numberText(): string {
    return this.isNumber ? this.text : "";
  }

  /** The whole number if it fits and is written without fraction and exponent; null otherwise. */
  asU32OrNull(): Some<u32> | null {
    const wide = this.asI64OrNull();
    return wide === null || wide.value < 0 || wide.value > <i64>u32.MAX_VALUE ? null : new Some<u32>(<u32>wide.value);
  }

  /** The whole number if it fits and is written without fraction and exponent; null otherwise. */
  asI64OrNull(): Some<i64> | null {
    if (!this.isNumber) return null;
    const text = this.text;
    const negative = text.charCodeAt(0) == 0x2d;
    const limit: u64 = negative ? 0x8000_0000_0000_0000 : 0x7fff_ffff_ffff_ffff;
    let value: u64 = 0;
    for (let i = negative ? 1 : 0; i < text.length; i++) {
      const digit = <u64>(text.charCodeAt(i) - 0x30);
      if (digit > 9 || value > (limit - digit) / 10) return null;
      value = value * 10 + digit;
    }
    return new Some<i64>(negative ? -(<i64>value) : <i64>value);
  }

  /** Elements of an array or members of an object; 0 for other kinds. */
  get length(): i32 {
    const items = this.items;
    return items === null ? 0 : items.length;
  }

  /** An element of an array, or the value of an object's member, by position. */
  at(index: i32): Json {
    return (this.items as Array<Json>)[index];
  }

  /** The key of an object's member by position. */
  keyAt(index: i32): string {
    return (this.keyList as Array<string>)[index];
  }

  /** An object's member; the last of equal keys wins. Null: absent, or not an object. */
  get(key: string): Json | null {
    const keys = this.keyList;
    if (keys === null) return null;
    const at = keys.lastIndexOf(key);
    return at < 0 ? null : this.at(at);
  }

  /** Like `get`, but keys match in any case, as for plugins written in Go. For keys of ASCII letters only. */
  getAnyCase(key: string): Json | null {
    const keys = this.keyList;
    if (keys === null) return null;
    for (let i = keys.length - 1; i >= 0; i--) {
      if (sameInAnyCase(keys[i], key)) return this.at(i);
    }
    return null;
  }

  /** A member that is present and not `null`. */
  presentMember(key: string): Json | null {
    const value = this.get(key);
    return value === null || value.isNull ? null : value;
  }

  /** Sets an object's member; an existing key keeps its position. Answers this object. */
  set(key: string, value: Json): Json {
    const keys = this.keyList as Array<string>;
    const items = this.items as Array<Json>;
    const at = keys.lastIndexOf(key);
    if (at >= 0) items[at] = value;
    else this.append(key, value);
    return this;
  }

  /** Adds a member without a search for an equal key. */
  append(key: string, value: Json): void {
    (this.keyList as Array<string>).push(key);
    (this.items as Array<Json>).push(value);
  }

  /** Adds an element to an array. Answers this array. */
  push(value: Json): Json {
    (this.items as Array<Json>).push(value);
    return this;
  }

  /** The kind's name in messages. */
  get kindName(): string {
    switch (this.kind) {
      case JsonKind.Null:
        return "null";
      case JsonKind.Bool:
        return "a boolean";
      case JsonKind.Number:
        return "a number";
      case JsonKind.String:
        return "a string";
      case JsonKind.Array:
        return "an array";
      default:
        return "an object";
    }
  }

  /** JSON text without white space. */
  toString(): string {
    switch (this.kind) {
      case JsonKind.Null:
        return "null";
      case JsonKind.Bool:
        return this.truth ? "true" : "false";
      case JsonKind.Number:
        return this.text;
      case JsonKind.String:
        return quote(this.text);
      default: {
        const keys = this.keyList;
        const parts = new Array<string>();
        for (let i = 0; i < this.length; i++) {
          const value = this.at(i).toString();
          parts.push(keys === null ? value : `${quote(keys[i])}:${value}`);
        }
        return keys === null ? `[${parts.join(",")}]` : `{${parts.join(",")}}`;
      }
    }
  }
}

/** A string as JSON text. */
export function quote(text: string): string {
  let out = '"';
  let done = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code >= 0x20 && code != 0x22 && code != 0x5c) continue;
    out += text.substring(done, i);
    done = i + 1;
    if (code == 0x22) out += '\\"';
    else if (code == 0x5c) out += "\\\\";
    else if (code == 0x0a) out += "\\n";
    else if (code == 0x0d) out += "\\r";
    else if (code == 0x09) out += "\\t";
    else out += `\\u00${code < 16 ? "0" : ""}${hex(code)}`;
  }
  return out + text.substring(done) + '"';
}

/** Whether two texts are equal but for the case of ASCII letters. Unlike `toLowerCase()` it brings no tables of Unicode into a component. */
export function sameInAnyCase(a: string, b: string): bool {
  if (a.length != b.length) return false;
  for (let i = 0; i < a.length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x == y) continue;
    const lower = x | 0x20;
    if (lower != (y | 0x20) || lower < 0x61 || lower > 0x7a) return false;
  }
  return true;
}
