// Splits a WebAssembly binary into sections and joins them, so that fixtures can change single bytes.

export interface Section {
  readonly id: number;
  readonly content: Uint8Array;
}

/** Encodes a number as unsigned LEB128. */
export function leb(value: number): number[] {
  const low = value % 128;
  return value < 128 ? [low] : [low + 128, ...leb(Math.floor(value / 128))];
}

/** The sections after the preamble of 8 bytes. The binary must be well formed. */
export function sectionsOf(binary: Uint8Array): Section[] {
  const sections: Section[] = [];
  for (let at = 8; at < binary.length;) {
    const id = binary[at] ?? 0;
    at += 1;
    let size = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = binary[at] ?? 0;
      at += 1;
      size += (byte & 127) * 2 ** shift;
      if (byte < 128) break;
    }
    sections.push({ id, content: binary.subarray(at, at + size) });
    at += size;
  }
  return sections;
}

/** A binary of these sections with the preamble of `like`. */
export function binaryOf(like: Uint8Array, sections: readonly Section[]): Uint8Array {
  const parts = sections.flatMap(({ id, content }) => [Uint8Array.from([id, ...leb(content.length)]), content]);
  return Buffer.concat([like.subarray(0, 8), ...parts]);
}

/** Replaces a component's first core module, also by a module that toolchains would refuse. */
export function replaceCoreModule(component: Uint8Array, core: Uint8Array): Uint8Array {
  const sections = sectionsOf(component);
  const first = sections.findIndex(({ id }) => id === 1);
  return binaryOf(component, sections.with(first, { id: 1, content: core }));
}

/** Appends a custom section. */
export function withSection(binary: Uint8Array, name: string, body: Uint8Array): Uint8Array {
  const content = Buffer.concat([Uint8Array.from(leb(name.length)), Buffer.from(name), body]);
  return binaryOf(binary, [...sectionsOf(binary), { id: 0, content }]);
}
