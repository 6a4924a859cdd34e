// The part of the Protocol Buffers wire format that the kubelet's answer needs: fields of bytes. No I/O; the bytes come from
// another process and are limited in size.

/** The fields of bytes (texts and messages) of a message, by field number, in order. Undefined: malformed. */
export function byteFields(message: Uint8Array): ReadonlyMap<number, readonly Uint8Array[]> | undefined {
  const fields = new Map<number, Uint8Array[]>();
  let at = 0;
  /** A number of up to 64 bits; those used here have 32. */
  const varint = (): number => {
    let value = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = message[at++];
      if (byte === undefined) return Number.NaN;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    return Number.NaN;
  };
  while (at < message.length) {
    const tag = varint();
    const [number, kind] = [Math.floor(tag / 8), tag % 8];
    if (!(number >= 1)) return undefined;
    if (kind === 0) {
      if (Number.isNaN(varint())) return undefined;
    } else if (kind === 1 || kind === 5) {
      at += kind === 1 ? 8 : 4;
    } else if (kind === 2) {
      const length = varint();
      if (!(length <= message.length - at)) return undefined;
      fields.set(number, [...(fields.get(number) ?? []), message.subarray(at, at + length)]);
      at += length;
    } else {
      return undefined;
    }
  }
  return at === message.length ? fields : undefined;
}

/** Decodes a text field; an absent field is empty. */
export function text(bytes: Uint8Array | undefined): string {
  return new TextDecoder().decode(bytes);
}
