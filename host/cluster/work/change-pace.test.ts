import { expect, test } from "vitest";
import { ChangePace } from "./change-pace.ts";

/** The batches that a namespace with one change in each `intervalMs` gets in `totalMs`, and the longest pause of a change. */
function batches(intervalMs: number, totalMs: number, afterMs = 50): { readonly count: number; readonly maxWaitMs: number } {
  let now = 1000;
  const pace = new ChangePace(() => now);
  const times = new Set<number>();
  let maxWaitMs = 0;
  for (; now < 1000 + totalMs; now += intervalMs) {
    const pauseMs = pace.pauseMs("a", afterMs);
    times.add(now + pauseMs);
    maxWaitMs = Math.max(maxWaitMs, pauseMs);
  }
  return { count: times.size, maxWaitMs };
}

test("PO-24 SV-14: a namespace with 100 changes a second gets 20 batches at once and then 5 a second; no change waits for longer than a batch", () => {
  const { count, maxWaitMs } = batches(10, 60_000);
  expect(count).toBeLessThanOrEqual(20 + 60 * 5 + 1);
  expect(count).toBeGreaterThan(60 * 3);
  expect(maxWaitMs).toBeLessThanOrEqual(50 + 200);
});

test("PO-24 SV-14: rare changes, changes of other namespaces and the objects of one change do not wait", () => {
  expect(batches(1000, 60_000)).toEqual({ count: 60, maxWaitMs: 50 });
  let now = 0;
  const pace = new ChangePace(() => now, 2, 200);
  const waits = (namespace: string): number => pace.pauseMs(namespace, 0);
  expect([waits("a"), waits("a"), waits("a")]).toEqual([0, 0, 0]);
  now = 1;
  expect(waits("a")).toBe(0);
  now = 2;
  expect([waits("a"), waits("a"), waits("b")]).toEqual([198, 198, 0]);
  now = 150;
  expect(waits("a")).toBe(50);
  for (let index = 0; index < 2000; index++) {
    now += 10;
    waits(`n${index}`);
  }
  expect(pace.size).toBeLessThan(1100);
});
