import { expect, test } from "vitest";
import { lookPauseMs } from "./look-pause.ts";

test("a pod with very many addresses is looked at less often", () => {
  expect([2_000, 262_144, 1_000_000, 14_400_000, 100_000_000].map(lookPauseMs)).toEqual([0, 0, 10_000, 144_000, 300_000]);
});
