// Fields of a frame's payload (PROTOCOL.md): u32, bytes, text, environment.

const U32_BYTES = 4;
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const noBytes = new Uint8Array(0);

/**
 * Writes a u32, little endian like the whole protocol (netlink has the machine's byte order). No DataView here and below: making one
 * takes a thousand instructions, and a call has a hundred numbers.
 */
export function putU32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value;
  bytes[at + 1] = value >>> 8;
  bytes[at + 2] = value >>> 16;
  bytes[at + 3] = value >>> 24;
}

/** Reads a u32, little endian. The caller has checked that `bytes` has four bytes at `at`. */
export function u32At(bytes: Uint8Array, at: number): number {
  const low = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8);
  const high = (bytes[at + 2] ?? 0) | ((bytes[at + 3] ?? 0) << 8);
  return low + high * 0x1_0000;
}

/** The value of a `bytes` field; a string is written as UTF-8. */
export type FieldBytes = Uint8Array | string;

/** Variables in the order of the block. If a name occurs twice, the first value counts, as for getenv(3). */
export type Environment = ReadonlyMap<string, string>;

/** Collects fields in order; `payload()` joins them. */
export class FieldWriter {
  /** A number stands for a u32 field. */
  readonly #parts: (FieldBytes | number)[] = [];
  #size = 0;

  u32(value: number): this {
    this.#parts.push(value);
    this.#size += U32_BYTES;
    return this;
  }

  /** Text is written as UTF-8. */
  bytes(value: FieldBytes): this {
    const length = typeof value === "string" ? Buffer.byteLength(value) : value.length;
    this.u32(length).#parts.push(value);
    this.#size += length;
    return this;
  }

  environment(environment: Environment): this {
    let block = "";
    for (const [key, value] of environment) block += `${key}=${value}\0`;
    return this.bytes(block.isWellFormed() ? block : unescapedBytes(block));
  }

  payload(): Uint8Array {
    const payload = Buffer.allocUnsafe(this.#size);
    let at = 0;
    for (const part of this.#parts) {
      if (typeof part === "number") {
        putU32(payload, at, part);
        at += U32_BYTES;
      } else if (typeof part === "string") at += payload.write(part, at);
      else {
        payload.set(part, at);
        at += part.length;
      }
    }
    return payload;
  }
}

/**
 * Reads fields in order. A field that overruns the payload reads as empty and marks the reader. After the last field, `isComplete` tells
 * whether the fields filled the payload exactly.
 */
export class FieldReader {
  readonly #payload: Uint8Array;
  #at = 0;
  #overrun = false;

  constructor(payload: Uint8Array) {
    this.#payload = payload;
  }

  get isComplete(): boolean {
    return !this.#overrun && this.#at === this.#payload.length;
  }

  u32(): number {
    if (this.#payload.length - this.#at < U32_BYTES) {
      this.#overrun = true;
      return 0;
    }
    const value = u32At(this.#payload, this.#at);
    this.#at += U32_BYTES;
    return value;
  }

  /** A view of the payload, not a copy. */
  bytes(): Uint8Array {
    const size = this.u32();
    if (this.#overrun || size > this.#payload.length - this.#at) {
      this.#overrun = true;
      return noBytes;
    }
    if (size === 0) return noBytes;
    const bytes = this.#payload.subarray(this.#at, this.#at + size);
    this.#at += size;
    return bytes;
  }

  /** Invalid UTF-8 reads as U+FFFD. */
  text(): string {
    const bytes = this.bytes();
    return bytes.length === 0 ? "" : decoder.decode(bytes);
  }

  /** Entries without a name are skipped. A byte that is not UTF-8 becomes a lone surrogate, which `FieldWriter` writes as that byte. */
  environment(): Environment {
    const environment = new Map<string, string>();
    const block = this.bytes();
    if (block.length > 0 && block[block.length - 1] !== 0) this.#overrun = true;
    const text = decoder.decode(block);
    for (const entry of (text.includes("\ufffd") ? escapedText(block) : text).split("\0")) {
      const equals = entry.indexOf("=");
      if (equals < 1) continue;
      const key = entry.slice(0, equals);
      if (!environment.has(key)) environment.set(key, entry.slice(equals + 1));
    }
    return environment;
  }
}

/** A byte that is not part of UTF-8 text becomes the code unit `escapedByte` + byte, as with Python's `surrogateescape`. */
const escapedByte = 0xdc00;

/** Decodes UTF-8, with a lone surrogate for each byte that is not UTF-8. A million bytes may be such, so none costs a call of a decoder. */
function escapedText(bytes: Uint8Array): string {
  const units = Buffer.allocUnsafe(2 * bytes.length);
  let size = 0;
  for (let at = 0; at < bytes.length;) {
    const length = sequenceLength(bytes, at);
    if (length === 0) size = units.writeUInt16LE(escapedByte + (bytes[at] ?? 0), size);
    else if (length < 4) size = units.writeUInt16LE(codePointAt(bytes, at, length), size);
    else {
      const code = codePointAt(bytes, at, length) - 0x1_0000;
      size = units.writeUInt16LE(0xd800 + (code >>> 10), size);
      size = units.writeUInt16LE(0xdc00 + (code & 0x3ff), size);
    }
    at += Math.max(1, length);
  }
  return units.toString("utf16le", 0, size);
}

function codePointAt(bytes: Uint8Array, at: number, length: number): number {
  let code = (bytes[at] ?? 0) & (length === 1 ? 0x7f : 0x7f >>> length);
  for (let next = at + 1; next < at + length; next++) code = (code << 6) | ((bytes[next] ?? 0) & 0x3f);
  return code;
}

/** Length in bytes of the UTF-8 character at an offset (RFC 3629, section 4); 0: there is none. */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  const length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  for (let next = at + 1; next < at + length; next++) if (((bytes[next] ?? 0) & 0xc0) !== 0x80) return 0;
  const second = bytes[at + 1] ?? 0;
  // Overlong forms, surrogates, and numbers beyond U+10FFFF.
  const tooLow = (first === 0xe0 && second < 0xa0) || (first === 0xf0 && second < 0x90);
  const tooHigh = (first === 0xed && second > 0x9f) || (first === 0xf4 && second > 0x8f);
  return tooLow || tooHigh ? 0 : length;
}

/** The reverse of `escapedText`. Another lone surrogate becomes U+FFFD. */
function unescapedBytes(text: string): Uint8Array {
  const bytes = Buffer.allocUnsafe(3 * text.length);
  let size = 0;
  for (let at = 0; at < text.length;) {
    const code = text.codePointAt(at) ?? 0;
    at += code > 0xffff ? 2 : 1;
    if (code < 0x80) bytes[size++] = code;
    else if (code >= escapedByte + 0x80 && code <= escapedByte + 0xff) bytes[size++] = code - escapedByte;
    else size += bytes.write(String.fromCodePoint(code), size);
  }
  return bytes.subarray(0, size);
}

/** Why `environment` cannot be the environment of a process; undefined if it can. */
export function environmentMistake(environment: Environment): string | undefined {
  for (const [key, value] of environment) {
    if (key === "" || key.includes("=") || key.includes("\0")) return `a variable can't have the name ${JSON.stringify(key)}`;
    if (value.includes("\0")) return `the value of ${key} contains a NUL`;
  }
  return undefined;
}
