import * as fc from "fast-check";
import { expect, test, describe } from "vitest";
import type { Verb } from "../cni/environment.ts";
import { CallDeadline, keptMs, stepBudgetMs, undoReserveMs } from "./call-deadline.ts";

function deadline(verb: Verb, callTimeoutMs: number, waitedMs = 0) {
  let time = 1000;
  const made = new CallDeadline(verb, callTimeoutMs, waitedMs, () => time);
  return { made, pass: (ms: number) => void (time += ms) };
}

test("an ADD keeps a reserve for undoing, and each undoing step leaves half of the remaining time", () => {
  const { made, pass } = deadline("ADD", 40_000);
  expect([made.stepMs, made.leftMs]).toEqual([20_000, 40_000]);
  pass(31_000);
  expect([made.stepMs, made.leftMs]).toEqual([0, 9000]);
  made.undo();
  expect(made.stepMs).toBe(4500);
  pass(4500);
  expect(made.stepMs).toBe(2250);
  pass(60_000);
  expect([made.stepMs, made.leftMs]).toEqual([0, 0]);
});

test("the reserve has an upper bound", () => expect(deadline("ADD", 1_000_000).made.stepMs).toBe(940_000));

test("X-5: planned steps keep their shares, and the rollback gets the whole reserve", () => {
  const { made, pass } = deadline("ADD", 40_000);
  made.planSteps(2);
  made.beginStep();
  // The even share of two steps is 10 s; the second one keeps half of it.
  expect(made.stepMs).toBe(15_000);
  pass(15_000);
  expect(made.stepMs).toBe(0);
  made.beginStep();
  expect(made.stepMs).toBe(5000);
  pass(5000);
  made.beginStep();
  expect([made.stepMs, made.leftMs]).toEqual([0, 20_000]);
  made.undo();
  expect(made.stepMs).toBe(10_000);
});

test("the time that a call waited in the queue counts", () => {
  expect(deadline("ADD", 40_000, 15_000).made.stepMs).toBe(5000);
  expect(deadline("ADD", 40_000, 50_000).made).toMatchObject({ stepMs: 0, leftMs: 0 });
});

test("DEL and CHECK have half the time of an ADD, as in the kubelet; STATUS and GC have no deadline", () => {
  expect([deadline("DEL", 40_000).made.leftMs, deadline("DEL", 40_000).made.stepMs]).toEqual([20_000, 10_000]);
  expect(deadline("CHECK", 40_000).made.stepMs).toBe(20_000);
  for (const verb of ["STATUS", "GC"] as const) expect(deadline(verb, 40_000, 50_000).made.stepMs).toBe(Infinity);
});

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
