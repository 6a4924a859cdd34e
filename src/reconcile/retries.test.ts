import { expect, test } from "vitest";
import { Retries } from "./retries.ts";

test("RT-07 pauses double up to the maximum, and end with their finding", () => {
  const retries = new Retries({ firstMs: 10, maxMs: 35 });
  const pauses: number[] = [];
  let now = 0;
  for (let tries = 0; tries < 4; tries++) {
    retries.failed("a", now);
    const failedAt = now;
    while (!retries.isDue("a", now)) now++;
    pauses.push(now - failedAt);
  }
  expect(pauses).toEqual([10, 20, 35, 35]);
  retries.failed("a", now);
  expect([retries.isDue("a", now), retries.isDue("b", now)]).toEqual([false, true]);
  retries.keep(new Set(["b"]));
  expect(retries.isDue("a", now)).toBe(true);
});

test("a success ends the pause, and the next failure begins with the first one", () => {
  const retries = new Retries({ firstMs: 10, maxMs: 35 });
  retries.failed("a", 0);
  retries.failed("a", 0);
  retries.succeeded("a");
  expect(retries.isDue("a", 0)).toBe(true);
  retries.failed("a", 0);
  expect([retries.isDue("a", 9), retries.isDue("a", 10)]).toEqual([false, true]);
});
