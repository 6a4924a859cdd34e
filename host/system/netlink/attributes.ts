// Attributes of netlink messages (linux/netlink.h): type, length and value, padded, one within another. No I/O.

import { aligned, concat, i32At, putU16, putU32, u16At, u32At } from "./bytes.ts";

const ATTRIBUTE_HEADER = 4;
/** The upper bits of an attribute's type are flags (nested, byte order). */
const TYPE_MASK = 0x3fff;
const NLA_F_NESTED = 0x8000;

const decoder = new TextDecoder();
const nothing = new Uint8Array(0);

/** One attribute, with the padding after it. */
export function attribute(type: number, value: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(ATTRIBUTE_HEADER + aligned(value.length));
  putU16(bytes, 0, ATTRIBUTE_HEADER + value.length);
  putU16(bytes, 2, type);
  bytes.set(value, ATTRIBUTE_HEADER);
  return bytes;
}

/** An attribute with a number of four bytes. */
export function u32Attribute(type: number, value: number): Uint8Array {
  const bytes = new Uint8Array(ATTRIBUTE_HEADER + 4);
  putU16(bytes, 0, ATTRIBUTE_HEADER + 4);
  putU16(bytes, 2, type);
  putU32(bytes, ATTRIBUTE_HEADER, value);
  return bytes;
}

/** A nested attribute. */
export function nested(type: number, attributes: readonly Uint8Array[]): Uint8Array {
  return attribute(type | NLA_F_NESTED, concat(attributes));
}

/**
 * Attributes of a message. A malformed or cut attribute ends them. Of several attributes of one type the last one counts. Values are decoded
 * on request: a link has some sixty attributes, and a reader needs a dozen.
 */
export class Attributes {
  readonly #bytes: Uint8Array;
  /** In order: type, begin and end of the value. */
  readonly #types: number[] = [];
  readonly #from: number[] = [];
  readonly #to: number[] = [];

  /** The attributes in `bytes` between two offsets. */
  constructor(bytes: Uint8Array, from = 0, to = bytes.length) {
    this.#bytes = bytes;
    for (let at = from; at + ATTRIBUTE_HEADER <= to;) {
      const length = u16At(bytes, at);
      if (length < ATTRIBUTE_HEADER || at + length > to) break;
      this.#types.push(u16At(bytes, at + 2) & TYPE_MASK);
      this.#from.push(at + ATTRIBUTE_HEADER);
      this.#to.push(at + length);
      at += aligned(length);
    }
  }

  has(type: number): boolean {
    return this.#types.includes(type);
  }

  get(type: number): Uint8Array | undefined {
    const found = this.#types.lastIndexOf(type);
    return found < 0 ? undefined : this.#bytes.subarray(this.#from[found], this.#to[found]);
  }

  /** The attributes in a nested attribute; none where it is absent. */
  within(type: number): Attributes {
    const found = this.#types.lastIndexOf(type);
    return found < 0 ? new Attributes(nothing) : new Attributes(this.#bytes, this.#from[found], this.#to[found]);
  }

  /** A number of one byte; undefined where it is absent. */
  u8(type: number): number | undefined {
    const at = this.#place(type, 1);
    return at === undefined ? undefined : this.#bytes[at];
  }

  /** A number of two bytes; undefined where it is absent. */
  u16(type: number): number | undefined {
    const at = this.#place(type, 2);
    return at === undefined ? undefined : u16At(this.#bytes, at);
  }

  /** A number of four bytes; undefined where it is absent. */
  u32(type: number): number | undefined {
    const at = this.#place(type, 4);
    return at === undefined ? undefined : u32At(this.#bytes, at);
  }

  /** A signed number of four bytes; undefined where it is absent. */
  i32(type: number): number | undefined {
    const at = this.#place(type, 4);
    return at === undefined ? undefined : i32At(this.#bytes, at);
  }

  /** Text up to a NUL or the end of the value; empty where it is absent. */
  text(type: number): string {
    return textIn(this.get(type));
  }

  /** All attributes in order, one of each type. */
  [Symbol.iterator](): IterableIterator<readonly [type: number, value: Uint8Array]> {
    return new Map(this.list()).entries();
  }

  /** All attributes in order, also several of one type. */
  list(): readonly (readonly [type: number, value: Uint8Array])[] {
    return this.#types.map((type, index) => [type, this.#bytes.subarray(this.#from[index], this.#to[index])]);
  }

  /** The offset of a value that has at least so many bytes. */
  #place(type: number, size: number): number | undefined {
    const found = this.#types.lastIndexOf(type);
    const from = this.#from[found];
    return from === undefined || (this.#to[found] ?? 0) - from < size ? undefined : from;
  }
}

/** The attributes in `bytes`. */
export function attributesIn(bytes: Uint8Array | undefined): Attributes {
  return new Attributes(bytes ?? nothing);
}

/** Text up to a NUL or the end of the bytes. */
export function textIn(bytes: Uint8Array | undefined): string {
  if (bytes === undefined) return "";
  const end = bytes.indexOf(0);
  return decoder.decode(end < 0 ? bytes : bytes.subarray(0, end));
}
