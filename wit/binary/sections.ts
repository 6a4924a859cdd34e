// The sections of a module or a component (core specification 5.5.2).

import { Reader } from "./reader.ts";

/** Bytes of magic and version, before the first section. */
export const preambleBytes = 8;

/** One section; `name` is the name of a custom section (id 0), else empty. */
export interface Section {
  readonly id: number;
  readonly name: string;
  /** Without the custom section's name. */
  readonly body: Uint8Array;
  /** The section with its id and its size. */
  readonly whole: Uint8Array;
}

/** Splits a module or component into sections. Throws a Refusal if the binary is cut short. */
export function sections(binary: Uint8Array): Section[] {
  const reader = new Reader(binary, preambleBytes);
  const found: Section[] = [];
  while (!reader.atEnd) {
    const start = reader.pos;
    const id = reader.byte("a section");
    const content = reader.take(reader.u32("a section's size"), "a section");
    const name = id === 0 ? content.name("a custom section's name", content.left) : "";
    found.push({ id, name, body: content.slice(), whole: reader.slice(start, reader.pos) });
  }
  return found;
}
