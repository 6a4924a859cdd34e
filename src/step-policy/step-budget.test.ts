import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { keptMs, stepBudgetMs, undoReserveMs } from "./step-budget.ts";

/** Runs steps on a virtual clock. `demands`: the milliseconds that each step would like to take. */
function runSteps(totalMs: number, demands: readonly number[]): { readonly budgets: readonly number[]; readonly leftMs: number } {
  const reserveMs = undoReserveMs(totalMs);
  const kept = keptMs(totalMs - reserveMs, demands.length);
  const budgets: number[] = [];
  let leftMs = totalMs;
  for (const [index, demand] of demands.entries()) {
    const budget = stepBudgetMs({ leftMs, reserveMs, keptMs: kept, stepsAfter: demands.length - index - 1 });
    budgets.push(budget);
    leftMs -= Math.min(demand, budget);
  }
  return { budgets, leftMs };
}

const total = fc.integer({ min: 1, max: 3_600_000 });
const demands = fc.array(fc.oneof(fc.integer({ min: 0, max: 4_000_000 }), fc.constant(Infinity)), {
  minLength: 1,
  maxLength: 40,
});

describe("the time of an ADD on a virtual clock", () => {
  test("X-5: the steps together take at most the budget, and the rollback always gets its reserve", () => {
    fc.assert(
      fc.property(total, demands, (totalMs, wanted) => {
        const { leftMs } = runSteps(totalMs, wanted);
        expect(leftMs).toBeGreaterThanOrEqual(undoReserveMs(totalMs) - 1e-6);
      }),
    );
  });

  test("X-5: each step gets at least half of its even share, however slow the steps before it are", () => {
    fc.assert(
      fc.property(total, demands, (totalMs, wanted) => {
        const least = (totalMs - undoReserveMs(totalMs)) / wanted.length / 2;
        for (const budget of runSteps(totalMs, wanted).budgets) expect(budget).toBeGreaterThanOrEqual(least - 1e-6);
      }),
    );
  });

  test("X-5: time that a step does not use goes to the steps after it", () => {
    expect(runSteps(100_000, [0, 0, 0, 0]).budgets).toEqual([31_250, 37_500, 43_750, 50_000]);
    expect(runSteps(100_000, [Infinity, 0, 0, 0]).budgets).toEqual([31_250, 6250, 12_500, 18_750]);
  });

  test("A list with one plugin gets all of the time but the reserve", () => {
    expect(runSteps(220_000, [0]).budgets).toEqual([160_000]);
    expect(runSteps(1000, [0]).budgets).toEqual([500]);
  });
});
