import { expect, test } from "vitest";
import { RestorePace } from "./restore-pace.ts";

const minute = 60_000;

test("FI-19 a file is restored at once, then after a minute, then every ten minutes", () => {
  const pace = new RestorePace();
  expect(pace.pauseMs(0)).toBe(0);
  pace.changed(0);
  expect(pace.pauseMs(0)).toBe(0);
  pace.changed(1000);
  expect(pace.pauseMs(1000)).toBe(minute);
  expect(pace.pauseMs(1000 + minute)).toBe(0);
  for (const at of [2 * minute, 13 * minute, 24 * minute]) {
    pace.changed(at);
    expect(pace.pauseMs(at)).toBe(10 * minute);
  }
});

test("the pace begins anew after half an hour without a removal", () => {
  const pace = new RestorePace();
  for (const at of [0, 1000, 2 * minute]) pace.changed(at);
  pace.changed(33 * minute);
  expect(pace.pauseMs(33 * minute)).toBe(0);
});
