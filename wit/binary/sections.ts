// Reads WebAssembly's binary encoding: bytes, LEB128 numbers, names and vectors, each bounds-checked.

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** A cursor over bytes. A read beyond the end throws a RangeError. */
export class ByteReader {
  readonly bytes: Uint8Array;
  at: number;

  constructor(bytes: Uint8Array, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  get done(): boolean {
    return this.at >= this.bytes.length;
  }

  byte(): number {
    const value = this.bytes[this.at];
    if (value === undefined) throw new RangeError(`the binary ends at byte ${this.at}`);
    this.at += 1;
    return value;
  }

  peek(): number | undefined {
    return this.bytes[this.at];
  }

  /** An unsigned LEB128 number of at most 32 bits. */
  u32(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw new RangeError(`a number before byte ${this.at} has more than 32 bits`);
  }

  /** The next `length` bytes, as a view. */
  take(length: number): Uint8Array {
    const end = this.at + length;
    if (end > this.bytes.length) throw new RangeError(`the binary ends at byte ${this.bytes.length}, byte ${end} was requested`);
    const view = this.bytes.subarray(this.at, end);
    this.at = end;
    return view;
  }

  name(): string {
    return utf8.decode(this.take(this.u32()));
  }

  vector<T>(item: () => T): T[] {
    return Array.from({ length: this.u32() }, item);
  }
}

/** One section of a module or component; `name` is the name of a custom section (id 0), else empty. */
export interface Section {
  readonly id: number;
  readonly name: string;
  /** Without the custom section's name. */
  readonly body: Uint8Array;
}

/** Splits a module or component, after its 8 bytes of magic and version, into sections. */
export function sections(binary: Uint8Array): Section[] {
  const reader = new ByteReader(binary, 8);
  const found: Section[] = [];
  while (!reader.done) {
    const id = reader.byte();
    const content = new ByteReader(reader.take(reader.u32()));
    const name = id === 0 ? content.name() : "";
    found.push({ id, name, body: content.bytes.subarray(content.at) });
  }
  return found;
}
