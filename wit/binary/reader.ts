// A bounded reader of the WebAssembly binary format (core specification 5.2).

import { refuse } from "./refusal.ts";

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Reads a range of a byte array. Offsets count from the start of the array, so that every refusal names the byte of the file. Each method
 * throws a Refusal instead of reading beyond the range. `what` names the value in the refusal.
 */
export class Reader {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
  pos: number;

  constructor(bytes: Uint8Array, pos = 0, end: number = bytes.length) {
    this.bytes = bytes;
    this.pos = pos;
    this.start = pos;
    this.end = end;
  }

  get atEnd(): boolean {
    return this.pos >= this.end;
  }

  get left(): number {
    return this.end - this.pos;
  }

  /** Reads one byte. */
  byte(what: string): number {
    const value = this.pos < this.end ? this.bytes[this.pos] : undefined;
    if (value === undefined) refuse(`${what} is cut short`, this.pos);
    this.pos += 1;
    return value;
  }

  /** Reads an unsigned LEB128 of at most 32 bits in at most five bytes. */
  u32(what: string): number {
    const at = this.pos;
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.byte(what);
      if (shift === 28 && byte > 0x0f) refuse(`${what} is not a 32-bit number`, at);
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    return refuse(`${what} is not a 32-bit number`, at);
  }

  /** Skips a signed LEB128 of at most `bits` bits (32, 33 or 64). */
  skipSigned(bits: number, what: string): void {
    const at = this.pos;
    const maxBytes = Math.ceil(bits / 7);
    for (let count = 0; count < maxBytes; count += 1) if (this.byte(what) < 0x80) return;
    refuse(`${what} is not a ${bits}-bit number`, at);
  }

  /** Reads the count of a vector. Refuses more than `max`, and more than the bytes that are left: each element has at least one byte. */
  count(what: string, max = 100_000): number {
    const at = this.pos;
    const count = this.u32(`the number of ${what}`);
    if (count > this.left) refuse(`${count} ${what} can't fit in the ${this.left} bytes left`, at);
    if (count > max) refuse(`${count} ${what} are too many (at most ${max})`, at);
    return count;
  }

  /** Reads a name: UTF-8 of at most `maxBytes`. */
  name(what: string, maxBytes = 256): string {
    const at = this.pos;
    const length = this.u32(`the length of ${what}`);
    if (length > maxBytes) refuse(`${what} is ${length} bytes long (at most ${maxBytes})`, at);
    const range = this.take(length, what);
    try {
      return utf8.decode(range.bytes.subarray(range.pos, range.end));
    } catch {
      return refuse(`${what} is not UTF-8`, at);
    }
  }

  /** Reads a name as Latin-1. The caller then accepts only ASCII. */
  plainName(what: string, maxBytes = 256): string {
    const at = this.pos;
    const length = this.u32(what);
    if (length > maxBytes) refuse(`${what} is ${length} bytes long (at most ${maxBytes})`, at);
    if (length > this.left) refuse(`${what} needs ${length} bytes, ${this.left} are left`, this.pos);
    let text = "";
    for (const end = this.pos + length; this.pos < end; this.pos += 1) text += String.fromCharCode(this.bytes[this.pos] ?? 0);
    return text;
  }

  /** Skips the next `length` bytes and answers a reader of these bytes. */
  take(length: number, what: string): Reader {
    if (length > this.left) refuse(`${what} needs ${length} bytes, ${this.left} are left`, this.pos);
    const range = new Reader(this.bytes, this.pos, this.pos + length);
    this.pos += length;
    return range;
  }

  /** A new reader of the same range, at its start. */
  again(): Reader {
    return new Reader(this.bytes, this.start, this.end);
  }

  /** Refuses a range that is not completely read. */
  finish(what: string): void {
    if (!this.atEnd) refuse(`${what} is ${this.left} bytes longer than its content`, this.pos);
  }

  /** The bytes between two offsets; by default the unread ones. */
  slice(from: number = this.pos, to: number = this.end): Uint8Array {
    return this.bytes.subarray(from, to);
  }
}
