// Rewrites a core module so that its memory and tables can't outgrow the limits, and drops its custom sections, which
// engines read hints and names from.

import type { CoreModule, SectionRange } from "../binary/core-module.ts";
import type { CoreLimits } from "../binary/core-types.ts";
import { refuse } from "../binary/refusal.ts";
import type { Limits } from "../limits.ts";

const preamble = Uint8Array.of(0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00);

/** The module's bytes with bounded maxima. Refuses one whose minima exceed the limits (LIMIT_MEMORY). */
export function clampModule(module: CoreModule, limits: Limits): Uint8Array {
  const parts: Uint8Array[] = [preamble];
  for (const section of module.sections) {
    if (section.id === 4) parts.push(tables(module, limits));
    else if (section.id === 5) parts.push(memories(module, limits));
    else parts.push(copied(module, section));
  }
  return joined(parts);
}

function memories(module: CoreModule, limits: Limits): Uint8Array {
  const content = module.memories.map((memory) => bounded(memory, limits.memoryPages, "memory", "pages", module.start));
  return encoded(5, [leb(content.length), ...content]);
}

function tables(module: CoreModule, limits: Limits): Uint8Array {
  const content = module.tables.map((table) => bounded(table, limits.tableEntries, "table", "entries", module.start));
  return encoded(4, [leb(content.length), ...content.flatMap((table) => [Uint8Array.of(0x70), table])]);
}

function bounded(own: CoreLimits, most: number, what: string, unit: string, at: number): Uint8Array {
  if (own.min > most) refuse(`a ${what} of at least ${own.min} ${unit}; the limit is ${most}`, at, "LIMIT_MEMORY");
  return joined([Uint8Array.of(0x01), leb(own.min), leb(Math.min(own.max ?? most, most))]);
}

function encoded(id: number, content: readonly Uint8Array[]): Uint8Array {
  const body = joined(content);
  return joined([Uint8Array.of(id), leb(body.length), body]);
}

function copied(module: CoreModule, range: SectionRange): Uint8Array {
  const body = module.bytes.subarray(range.start, range.end);
  return joined([Uint8Array.of(range.id), leb(body.length), body]);
}

function leb(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  do {
    const low = rest % 128;
    rest = Math.floor(rest / 128);
    bytes.push(rest > 0 ? low + 128 : low);
  } while (rest > 0);
  return Uint8Array.from(bytes);
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
