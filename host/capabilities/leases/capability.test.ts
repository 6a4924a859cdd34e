import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { IpAddress } from "../../../src/net/ip.ts";
import { roundRobin, type Span } from "./capability.ts";

function span(first: number, last: number): Span {
  return { family: 4, first: BigInt(first), last: BigInt(last) };
}

function values(spans: readonly Span[], last?: number): number[] {
  const from: IpAddress | undefined = last === undefined ? undefined : { family: 4, value: BigInt(last) };
  return [...roundRobin(spans, from)].map((address) => Number(address.value));
}

test("Without a position the round begins with the first address", () => {
  expect(values([span(10, 12), span(1, 2)])).toEqual([10, 11, 12, 1, 2]);
});

test("With a position the round begins after it, goes through all ranges and ends with it", () => {
  expect(values([span(10, 12), span(1, 2)], 11)).toEqual([12, 1, 2, 10, 11]);
  expect(values([span(10, 12), span(1, 2)], 2)).toEqual([10, 11, 12, 1, 2]);
  expect(values([span(7, 7)], 7)).toEqual([7]);
});

test("A position outside of the ranges or of another family is ignored", () => {
  expect(values([span(10, 12)], 13)).toEqual([10, 11, 12]);
  expect([...roundRobin([span(10, 11)], { family: 6, value: 10n })].map((a) => a.value)).toEqual([10n, 11n]);
});

test("Every address appears exactly once for any ranges and any position", () => {
  const spans = fc.array(fc.tuple(fc.nat(20), fc.nat(5)), { minLength: 1, maxLength: 4 }).map((list) =>
    // The spans do not overlap.
    list.map(([first, more], i) => span(i * 100 + first, i * 100 + first + more)),
  );
  fc.assert(
    fc.property(spans, fc.option(fc.nat(400), { nil: undefined }), (list, last) => {
      const all = list.flatMap((s) => Array.from({ length: Number(s.last - s.first) + 1 }, (_, i) => Number(s.first) + i));
      expect(values(list, last).sort((a, b) => a - b)).toEqual(all.sort((a, b) => a - b));
    }),
    { seed: 8, numRuns: 300 },
  );
});

test("Addresses of a huge IPv6 range are made only when needed", () => {
  const all: Span = { family: 6, first: 0n, last: (1n << 128n) - 1n };
  expect(roundRobin([all], { family: 6, value: 41n }).next().value).toEqual({ family: 6, value: 42n });
});
