// Fields of a frame's payload (PROTOCOL.md): u32, bytes, text, environment.

const U32_BYTES = 4;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** What a `bytes` field may be given as. */
export type FieldBytes = Uint8Array | string;

/** Variables in the order of the block; of two with one name the first counts, as for getenv. */
export type Environment = ReadonlyMap<string, string>;

/** Writes fields one after the other; `payload()` joins them. */
export class FieldWriter {
  /** A number is a u32. */
  readonly #parts: (Uint8Array | number)[] = [];
  #size = 0;

  u32(value: number): this {
    this.#parts.push(value);
    this.#size += U32_BYTES;
    return this;
  }

  /** Text is written as UTF-8. */
  bytes(value: FieldBytes): this {
    const bytes = typeof value === "string" ? encoder.encode(value) : value;
    this.u32(bytes.length).#parts.push(bytes);
    this.#size += bytes.length;
    return this;
  }

  environment(environment: Environment): this {
    let block = "";
    for (const [key, value] of environment) block += `${key}=${value}\0`;
    return this.bytes(block);
  }

  payload(): Uint8Array {
    const payload = new Uint8Array(this.#size);
    const view = new DataView(payload.buffer);
    let at = 0;
    for (const part of this.#parts) {
      if (typeof part === "number") view.setUint32(at, part, true);
      else payload.set(part, at);
      at += typeof part === "number" ? U32_BYTES : part.length;
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
  readonly #view: DataView;
  #at = 0;
  #overrun = false;

  constructor(payload: Uint8Array) {
    this.#payload = payload;
    this.#view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  }

  get whole(): boolean {
    return !this.#overrun && this.#at === this.#payload.length;
  }

  u32(): number {
    if (this.#payload.length - this.#at < U32_BYTES) {
      this.#overrun = true;
      return 0;
    }
    const value = this.#view.getUint32(this.#at, true);
    this.#at += U32_BYTES;
    return value;
  }

  /** A view of the payload, not a copy. */
  bytes(): Uint8Array {
    const size = this.u32();
    if (this.#overrun || size > this.#payload.length - this.#at) {
      this.#overrun = true;
      return new Uint8Array(0);
    }
    const bytes = this.#payload.subarray(this.#at, this.#at + size);
    this.#at += size;
    return bytes;
  }

  /** Bytes that are no UTF-8 read as U+FFFD. */
  text(): string {
    return decoder.decode(this.bytes());
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
