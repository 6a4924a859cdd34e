// Ids that need not be secret: random ids of spans and traces, and short names for long ones. node:crypto takes 14 ms to load and is not needed for them.

/** A span id: 16 hexadecimal digits, not all of them zero. */
export function newSpanId(): string {
  const id = randomHalf() + randomHalf();
  return /^0+$/.test(id) ? newSpanId() : id;
}

/** A trace id: 32 hexadecimal digits, not all of them zero. */
export function newTraceId(): string {
  return newSpanId() + newSpanId();
}

function randomHalf(): string {
  return Math.floor(Math.random() * 0x1_0000_0000)
    .toString(16)
    .padStart(8, "0");
}

const encoder = new TextEncoder();

/** 64-bit FNV-1a of the UTF-8 text, as 16 hexadecimal digits. Not cryptographic: node:crypto would add 14 ms to a call's start. */
export function shortHash(text: string): string {
  // Two halves of 32 bits: a BigInt would need two objects for each byte. The prime is 2^40 + 0x1b3: a shift and a small product.
  let high = 0xcbf29ce4;
  let low = 0x84222325;
  for (const byte of encoder.encode(text)) {
    const before = (low ^ byte) >>> 0;
    const product = before * 0x1b3;
    const carry = (product - (product >>> 0)) / 0x1_0000_0000;
    high = (Math.imul(high, 0x1b3) + carry + (before << 8)) >>> 0;
    low = product >>> 0;
  }
  return hexOf(high) + hexOf(low);
}

function hexOf(value: number): string {
  return value.toString(16).padStart(8, "0");
}
