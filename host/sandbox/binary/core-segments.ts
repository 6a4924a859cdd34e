// Skips the element and data segments of a core module, and checks their form (5.5.12, 5.5.14).

import { skipConstantExpression } from "./core-expression.ts";
import type { Reader } from "../../../wit/binary/reader.ts";
import { refuse } from "../../../wit/binary/refusal.ts";

/** Skips element segments: function indices or constant expressions, of funcref only. */
export function readElements(reader: Reader): void {
  for (let left = reader.count("element segments", 10_000); left > 0; left -= 1) {
    const at = reader.pos;
    const flags = reader.u32("an element segment");
    if (flags > 7) refuse(`an element segment with flags ${flags}`, at);
    const active = (flags & 1) === 0;
    const expressions = (flags & 4) !== 0;
    if (active && (flags & 2) !== 0) reader.u32("a table index");
    if (active) skipConstantExpression(reader);
    if ((flags & 3) !== 0) {
      const kind = reader.byte("an element kind");
      if (kind !== (expressions ? 0x70 : 0x00)) refuse("elements other than functions are not allowed in a delegate", at);
    }
    for (let items = reader.count("elements"); items > 0; items -= 1) {
      if (expressions) skipConstantExpression(reader);
      else reader.u32("a function index");
    }
  }
}

/** Skips data segments, active and passive. */
export function readData(reader: Reader): void {
  for (let left = reader.count("data segments"); left > 0; left -= 1) {
    const at = reader.pos;
    const flags = reader.u32("a data segment");
    if (flags > 2) refuse(`a data segment with flags ${flags}`, at);
    if (flags === 2) reader.u32("a memory index");
    if (flags !== 1) skipConstantExpression(reader);
    reader.take(reader.u32("a data segment's size"), "a data segment");
  }
}
