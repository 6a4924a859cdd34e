// Numbers and text of netlink messages, in the machine's own byte order. No I/O.

const littleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

const encoder = new TextEncoder();

/** A number of two bytes; 0 beyond the end. No destructuring here and below: it would make thousands of arrays in an attachment. */
export function u16At(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0;
  const second = bytes[at + 1] ?? 0;
  if (at + 2 > bytes.length) return 0;
  return littleEndian ? first | (second << 8) : second | (first << 8);
}

/** A number of four bytes; 0 beyond the end. */
export function u32At(bytes: Uint8Array, at: number): number {
  if (at + 4 > bytes.length) return 0;
  const first = u16At(bytes, at);
  const second = u16At(bytes, at + 2);
  return littleEndian ? first + second * 0x1_0000 : second + first * 0x1_0000;
}

/** A signed number of four bytes, such as an index; 0 beyond the end. */
export function i32At(bytes: Uint8Array, at: number): number {
  return u32At(bytes, at) | 0;
}

/** Writes a number of two bytes at an offset. */
export function putU16(bytes: Uint8Array, at: number, value: number): void {
  bytes[littleEndian ? at : at + 1] = value & 0xff;
  bytes[littleEndian ? at + 1 : at] = (value >>> 8) & 0xff;
}

/** Writes a number of four bytes at an offset. */
export function putU32(bytes: Uint8Array, at: number, value: number): void {
  putU16(bytes, littleEndian ? at : at + 2, value & 0xffff);
  putU16(bytes, littleEndian ? at + 2 : at, value >>> 16);
}

/** Four bytes of a number, which may be negative, as an index is. */
export function u32(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  putU32(bytes, 0, value);
  return bytes;
}

/** Two bytes of a number. */
export function u16(value: number): Uint8Array {
  const bytes = new Uint8Array(2);
  putU16(bytes, 0, value);
  return bytes;
}

/** One byte of a number. */
export function u8(value: number): Uint8Array {
  return Uint8Array.of(value);
}

/** UTF-8 with a NUL at its end, as the kernel requires names. */
export function cString(text: string): Uint8Array {
  return encoder.encode(`${text}\0`);
}

/** All parts in one array. */
export function concat(parts: readonly Uint8Array[]): Uint8Array {
  let size = 0;
  for (const part of parts) size += part.length;
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** The length with netlink's padding of messages and attributes. */
export function aligned(length: number): number {
  return (length + 3) & ~3;
}
