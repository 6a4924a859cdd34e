// Ids of spans and traces. They have to be different, not secret: so no node:crypto, which takes 14 ms to load.

/** 16 hexadecimal digits, not all of them zero. */
export function newSpanId(): string {
  const id = half() + half();
  return /^0+$/.test(id) ? newSpanId() : id;
}

/** 32 hexadecimal digits. */
export function newTraceId(): string {
  return newSpanId() + newSpanId();
}

function half(): string {
  return Math.floor(Math.random() * 0x1_0000_0000)
    .toString(16)
    .padStart(8, "0");
}
