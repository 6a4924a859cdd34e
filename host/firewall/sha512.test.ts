import { createHash } from "node:crypto";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { sha512 } from "./sha512.ts";

function wanted(text: string): string {
  return createHash("sha512").update(text).digest("hex");
}

test("it is the hash that everybody else computes, of texts of all lengths around a block's", () => {
  for (let length = 0; length < 300; length++) expect(sha512("x".repeat(length))).toBe(wanted("x".repeat(length)));
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 400 }), (text) => {
      expect(sha512(text)).toBe(wanted(text));
    }),
  );
});
