import { expect, test } from "vitest";
import type { PageStep } from "../page-data.ts";
import { barsOf, outsideMs, ticksOf } from "./waterfall-layout.ts";

function step(type: string, startMs: number, ms: number, nested = false): PageStep {
  return {
    type,
    startMs,
    ms,
    nested,
    network: "pods",
    ifname: "eth0",
    verb: "ADD",
    kind: "native",
    failure: null,
    changes: null,
  };
}

// In the order of their ends, as the daemon reports them.
const call = { ms: 20, steps: [step("ipam", 4, 2, true), step("bridge", 2, 8), step("tuning", 12, 4)] };

test("bars lie in the order of their starts, at their share of the call's time, and a called plugin below its caller", () => {
  expect(barsOf(call).map(({ step: { type }, left, width, depth }) => [type, left, width, depth])).toEqual([
    ["bridge", 10, 40, 0],
    ["ipam", 20, 10, 1],
    ["tuning", 60, 20, 0],
  ]);
});

test("the time outside of steps counts overlapping steps once", () => {
  expect(outsideMs(call)).toBe(8);
  expect(outsideMs({ ms: 5, steps: [] })).toBe(5);
  expect(outsideMs({ ms: 5, steps: [step("a", 0, 99)] })).toBe(0);
});

test("bars stay within the axis, and are wide enough to be seen, whatever the numbers are", () => {
  for (const odd of [step("a", -5, 1e9), step("b", 1e9, 0), step("c", 0, 0)]) {
    for (const { left, width } of barsOf({ ms: 1, steps: [odd] })) {
      expect(left).toBeGreaterThanOrEqual(0);
      expect(width).toBeGreaterThan(0.5);
      expect(left + width).toBeLessThanOrEqual(100.001);
    }
  }
});

test("the axis has at most six marks at round times", () => {
  expect(ticksOf(20).map(({ ms }) => ms)).toEqual([0, 5, 10, 15, 20]);
  for (const ms of [0.003, 0.7, 1, 9.99, 123, 60_000, 1e9]) expect(ticksOf(ms).length).toBeLessThanOrEqual(6);
  for (const odd of [0, -1, Number.NaN, Infinity]) expect(ticksOf(odd)).toEqual([{ ms: 0, left: 0 }]);
});
