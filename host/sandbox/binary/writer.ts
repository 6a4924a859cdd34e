// Encodes parts of the WebAssembly binary format.

/** An unsigned number as LEB128. */
export function leb(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  do {
    const low = rest % 128;
    rest = Math.floor(rest / 128);
    bytes.push(rest > 0 ? low + 128 : low);
  } while (rest > 0);
  return Uint8Array.from(bytes);
}

/** A signed 32-bit number as LEB128. */
export function signedLeb(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value | 0;
  for (;;) {
    const low = rest & 0x7f;
    rest >>= 7;
    const last = (rest === 0 && (low & 0x40) === 0) || (rest === -1 && (low & 0x40) !== 0);
    bytes.push(last ? low : low | 0x80);
    if (last) return Uint8Array.from(bytes);
  }
}

/** A name: its length and its ASCII characters. */
export function asciiName(text: string): Uint8Array {
  return joined([leb(text.length), Uint8Array.from(text, (character) => character.charCodeAt(0))]);
}

/** A section with its id and size. */
export function section(id: number, content: readonly Uint8Array[]): Uint8Array {
  const body = joined(content);
  return joined([Uint8Array.of(id), leb(body.length), body]);
}

/** Concatenates byte arrays. */
export function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** The length of an unsigned number as LEB128. */
export function lebLength(value: number): number {
  let length = 1;
  for (let rest = value; rest >= 128; rest = Math.floor(rest / 128)) length += 1;
  return length;
}

/** Writes many short parts into one array of a known length: an array for each part would take longer than the parts. */
export class ByteWriter {
  readonly bytes: Uint8Array;
  #at = 0;

  constructor(length: number) {
    this.bytes = new Uint8Array(length);
  }

  /** Writes an unsigned number as LEB128. */
  leb(value: number): void {
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.bytes[this.#at++] = (rest % 128) + 128;
    this.bytes[this.#at++] = rest;
  }

  /** Writes a part. */
  part(part: Uint8Array): void {
    this.bytes.set(part, this.#at);
    this.#at += part.length;
  }
}
