import * as fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { anyText } from "./arbitrary.ts";
import { loadGuest, type Guest } from "./load-guest.ts";

let guest: Guest;
beforeAll(async () => {
  guest = await loadGuest("probe.ts");
});

test("any text crosses the boundary's memory; a lone surrogate becomes U+FFFD, a leading U+FEFF stays", () => {
  const text = fc.oneof(
    anyText,
    anyText.map((rest) => `\ufeff${rest}`),
  );
  fc.assert(
    fc.property(text, (value) => {
      expect(guest.text("bounce", value)).toBe(value.toWellFormed());
    }),
    { numRuns: 1000 },
  );
});

test("the boundary's memory grows in place, moves, returns to a mark and is released", () => {
  expect(guest.text("arena")).toBe("fine");
});
