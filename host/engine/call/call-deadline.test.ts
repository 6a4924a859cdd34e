import { expect, test } from "vitest";
import type { Verb } from "../../../src/cni/environment.ts";
import { CallDeadline } from "./call-deadline.ts";

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
