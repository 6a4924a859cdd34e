// Numbers in network byte order: netfilter's attributes use it, unlike those of rtnetlink.

/** Two bytes of a number. */
export function u16be(value: number): Uint8Array {
  return Uint8Array.of((value >>> 8) & 255, value & 255);
}

/** Four bytes of a number. */
export function u32be(value: number): Uint8Array {
  return Uint8Array.of(value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255);
}

/** Eight bytes of a number. */
export function u64be(value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value));
  return bytes;
}

/** The number in all of the bytes; 0 for none. */
export function numberIn(bytes: Uint8Array | undefined): number {
  return bytes === undefined ? 0 : bytes.reduce((value, byte) => value * 256 + byte, 0);
}
