// Fields of a frame's payload (PROTOCOL.md): u32, bytes, text, environment.

const U32_BYTES = 4;
const decoder = new TextDecoder();
const nothing = new Uint8Array(0);

/** Little endian, as all of the protocol is, and netlink on some machines isn't. Without a DataView, here and below: making one takes a thousand instructions, and a call has a hundred numbers to be read and written. */
export function putU32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value;
  bytes[at + 1] = value >>> 8;
  bytes[at + 2] = value >>> 16;
  bytes[at + 3] = value >>> 24;
}

/** Little endian. The caller has seen that four bytes are there. */
export function u32At(bytes: Uint8Array, at: number): number {
  const low = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8);
  const high = (bytes[at + 2] ?? 0) | ((bytes[at + 3] ?? 0) << 8);
  return low + high * 0x1_0000;
}

/** What a `bytes` field may be given as. */
export type FieldBytes = Uint8Array | string;

/** Variables in the order of the block; of two with one name the first counts, as for getenv. */
export type Environment = ReadonlyMap<string, string>;

/** Writes fields one after the other; `payload()` joins them. */
export class FieldWriter {
  /** A number is a u32. */
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
    return this.bytes(block);
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
 * Reads fields one after the other. A field that overruns the payload reads as empty and marks the reader; `whole`
 * says at the end whether all fields were there and nothing else.
 */
export class FieldReader {
  readonly #payload: Uint8Array;
  #at = 0;
  #overrun = false;

  constructor(payload: Uint8Array) {
    this.#payload = payload;
  }

  get whole(): boolean {
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
      return nothing;
    }
    if (size === 0) return nothing;
    const bytes = this.#payload.subarray(this.#at, this.#at + size);
    this.#at += size;
    return bytes;
  }

  /** Bytes that are no UTF-8 read as U+FFFD. */
  text(): string {
    const bytes = this.bytes();
    return bytes.length === 0 ? "" : decoder.decode(bytes);
  }

  /** Entries without a name are left out. */
  environment(): Environment {
    const environment = new Map<string, string>();
    const block = this.bytes();
    if (block.length > 0 && block[block.length - 1] !== 0) this.#overrun = true;
    for (const entry of decoder.decode(block).split("\0")) {
      const equals = entry.indexOf("=");
      if (equals < 1) continue;
      const key = entry.slice(0, equals);
      if (!environment.has(key)) environment.set(key, entry.slice(equals + 1));
    }
    return environment;
  }
}

/** The first reason why this can't be a process's environment; undefined where it can. */
export function environmentMistake(environment: Environment): string | undefined {
  for (const [key, value] of environment) {
    if (key === "" || key.includes("=") || key.includes("\0")) return `a variable can't be called ${JSON.stringify(key)}`;
    if (value.includes("\0")) return `the value of ${key} holds a NUL`;
  }
  return undefined;
}
