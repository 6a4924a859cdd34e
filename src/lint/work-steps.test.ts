import { expect, test } from "vitest";
import { allSteps, sortedInSteps } from "./work-steps.ts";

const byKey = (a: { readonly key: number }, b: { readonly key: number }): number => a.key - b.key;

test("a sort in steps gives the order of a sort at once, and keeps equal elements in order", () => {
  for (const count of [0, 1, 1023, 1024, 1025, 5000]) {
    const elements = Array.from({ length: count }, (_, index) => ({ key: (index * 7919) % 97, index }));
    expect(allSteps(sortedInSteps(elements, byKey))).toEqual(elements.toSorted(byKey));
  }
});

test("a step of a sort has a bounded number of elements", () => {
  const elements = Array.from({ length: 10_000 }, (_, index) => -index);
  const steps = [...sortedInSteps(elements, (a, b) => a - b)];
  expect([steps.length > 20, Math.max(...steps)]).toEqual([true, 1024]);
});
