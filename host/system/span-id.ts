// Ids of spans and traces. Ids must be unique but not secret, so node:crypto, which takes 14 ms to load, is not needed.

/** A span id: 16 hexadecimal digits, not all of them zero. */
export function newSpanId(): string {
  const id = half() + half();
  return /^0+$/.test(id) ? newSpanId() : id;
}

/** A trace id: 32 hexadecimal digits, not all of them zero. */
export function newTraceId(): string {
  return newSpanId() + newSpanId();
}

function half(): string {
  return Math.floor(Math.random() * 0x1_0000_0000)
    .toString(16)
    .padStart(8, "0");
}
