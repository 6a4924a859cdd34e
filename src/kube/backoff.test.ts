import { expect, test } from "vitest";

import { backoffMs, pauseBefore, retryAfterMs, serverPauseMs } from "./backoff.ts";

test("pauses double up to a bound, and jitter is at most half of a pause", () => {
  const maxima = Array.from({ length: 8 }, (_, attempt) => backoffMs(attempt, () => 1));
  expect(maxima).toEqual([100, 200, 400, 800, 1600, 3200, 4000, 4000]);
  expect(maxima.map((_, attempt) => backoffMs(attempt, () => 0))).toEqual(maxima.map((ms) => ms / 2));
  expect(backoffMs(10_000, () => 1)).toBe(4000);
});

test("clients that a server asks for the same pause come back at different times, none of them earlier", () => {
  expect([0, 0.5, 1].map((random) => pauseBefore(0, () => random, 1000))).toEqual([1000, 1500, 2000]);
  expect(pauseBefore(0, () => 1, 600_000)).toBe(610_000);
  // Without such a pause, and where the own pause is longer, the pauses double.
  expect(pauseBefore(3, () => 1, 0)).toBe(800);
  expect(pauseBefore(5, () => 1, 1000, 30_000)).toBe(3200);
});

test.each<[string | undefined, number | undefined]>([
  [undefined, undefined],
  ["0", 0],
  ["7", 7_000],
  ["Sat, 21 Nov 2026 00:00:05 GMT", 5_000],
  ["Sat, 21 Nov 2020 00:00:05 GMT", 0],
  ["soon", undefined],
  ["-1e999", undefined],
  ["9999999999999", undefined],
])("Retry-After %s means %s ms", (header, expected) => {
  expect(retryAfterMs(header, Date.parse, Date.parse("2026-11-21T00:00:00Z"))).toBe(expected);
});

test("an API server may ask for a pause of 10 minutes at most", () => {
  const pauses = ["7", "601", "999999999", "Sat, 21 Nov 2099 00:00:00 GMT", undefined, "soon"].map((header) =>
    serverPauseMs(header, Date.parse, Date.parse("2026-11-21T00:00:00Z")),
  );
  expect(pauses).toEqual([7_000, 600_000, 600_000, 600_000, undefined, undefined]);
});
