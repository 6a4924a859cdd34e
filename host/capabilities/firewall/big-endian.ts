// Numbers in network byte order, which netfilter's attributes have; rtnetlink's have the machine's.

export function u16be(value: number): Uint8Array {
  return Uint8Array.of((value >>> 8) & 255, value & 255);
}

export function u32be(value: number): Uint8Array {
  return Uint8Array.of(value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255);
}

/** 0 where there are too few bytes. */
export function numberIn(bytes: Uint8Array | undefined): number {
  return bytes === undefined ? 0 : bytes.reduce((value, byte) => value * 256 + byte, 0);
}
