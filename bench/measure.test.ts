import { expect, test } from "vitest";

import { inTurns, quantile, summary } from "./measure.ts";

test("quantiles are interpolated between samples", () => {
  expect(quantile([4, 1, 3, 2], 0.5)).toBe(2.5);
  expect(quantile([10, 20, 30], 0.5)).toBe(20);
  expect(quantile([0, 100], 0.95)).toBe(95);
  expect(quantile([7], 0.95)).toBe(7);
});

test("subject and baseline alternate, and warm-up turns are not among the samples", async () => {
  const order: string[] = [];
  const sample = (name: string, value: number) => async (): Promise<number> => {
    order.push(name);
    return order.length <= 2 ? 1000 : value;
  };
  const samples = await inTurns({ subject: sample("A", 3), baseline: sample("B", 2), warmUp: 1, samples: 3 });
  expect(order.join("")).toBe("ABBAABBA");
  expect(summary("x", samples)).toEqual({
    id: "x",
    unit: "ms",
    n: 3,
    median: 3,
    p95: 3,
    baseline: 2,
    baselineP95: 2,
    ratio: 1.5,
  });
});

test("the ratio of samples in rounds is the median of the rounds' ratios", () => {
  const taken = { subject: [90, 45, 180], baseline: [100, 50, 100], inRounds: true } as const;
  expect(summary("x", taken, "pods/s")).toMatchObject({ median: 90, baseline: 100, ratio: 0.9 });
  expect(summary("x", { ...taken, subject: [45, 80, 90] }, "pods/s").ratio).toBe(0.9);
  expect(() => summary("x", { ...taken, subject: [1] })).toThrow("a round lacks a sample");
});
