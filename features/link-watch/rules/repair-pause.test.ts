import { expect, test } from "vitest";
import { repairPauseMs, type RepairTries, withTry } from "./repair-pause.ts";

test("WA-03: pauses grow from try to try, up to 5 minutes, and a link that held for 10 minutes begins anew", () => {
  let nowMs = 1_000_000;
  let tries: RepairTries | undefined;
  const pauses: number[] = [];
  for (let count = 0; count < 12; count++) {
    const pauseMs = repairPauseMs(tries, nowMs);
    pauses.push(pauseMs);
    nowMs += pauseMs;
    tries = withTry(tries, nowMs);
  }
  expect(pauses.slice(0, 5)).toEqual([0, 1000, 2000, 4000, 8000]);
  expect(pauses.at(-1)).toBe(300_000);
  expect(repairPauseMs(tries, nowMs + 299_999)).toBe(1);
  expect(repairPauseMs(tries, nowMs + 600_000)).toBe(0);
  expect(withTry(tries, nowMs + 600_000).count).toBe(1);
});
