import * as fc from "fast-check";
import { expect, test } from "vitest";

import { FieldReader, FieldWriter } from "./fields.ts";

/** The environment block after it was decoded and encoded again, as Latin-1. */
function passedOn(block: Uint8Array): string {
  const read = new FieldReader(new FieldWriter().bytes(block).payload()).environment();
  return Buffer.from(new FieldReader(new FieldWriter().environment(read).payload()).bytes()).toString("latin1");
}

test("an environment with any values is decoded and encoded byte for byte", () => {
  const name = fc.stringMatching(/^[A-Z_]{1,8}$/);
  const value = fc.oneof(
    fc.uint8Array({ min: 1, max: 255, maxLength: 12 }),
    fc.uint8Array({ min: 0x7e, max: 255, maxLength: 6 }),
    fc.string({ unit: "binary" }).map((text) => Buffer.from(text.replaceAll("\0", "\ufffd"))),
  );
  fc.assert(
    fc.property(fc.uniqueArray(fc.tuple(name, value), { selector: ([each]) => each, maxLength: 6 }), (pairs) => {
      const block = Buffer.concat(pairs.flatMap(([each, bytes]) => [Buffer.from(`${each}=`), bytes, Buffer.of(0)]));
      expect(passedOn(block)).toBe(block.toString("latin1"));
    }),
    { numRuns: 2000 },
  );
});

test.each([
  ["text with U+FFFD and a byte order mark", "A=\u{feff}ä\u{fffd}😀", true],
  ["a byte that is not UTF-8", "A=\xff", false],
  ["an incomplete sequence", "A=\xe2\x82", false],
  ["an encoded surrogate", "A=\xed\xa0\x80", false],
  ["an overlong NUL", "A=\xc0\x80", false],
])("%s is passed on byte for byte", (_, entry, wellFormed) => {
  const block = Buffer.from(`${entry}\0`, wellFormed ? "utf8" : "latin1");
  const value = new FieldReader(new FieldWriter().bytes(block).payload()).environment().get("A") ?? "";
  expect([value.isWellFormed(), passedOn(block)]).toEqual([wellFormed, block.toString("latin1")]);
});
