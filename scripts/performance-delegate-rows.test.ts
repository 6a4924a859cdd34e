import { expect, test } from "vitest";
import { measuredDelegates, unmeasuredPlugins } from "../bench/delegate-lists.ts";
import { fieldPlugins, referencePlugins } from "../src/cni/reference-plugins.ts";
import { delegateRatio } from "./performance-delegate-rows.ts";
import { meanings, verdict } from "./performance-rows.ts";

test("each reference plugin and each popular one has rows that are explained, or a reason why it has none", () => {
  const measured = measuredDelegates.map(({ type }) => type);
  expect([...measured, ...Object.keys(unmeasuredPlugins)].toSorted()).toEqual([...referencePlugins, ...fieldPlugins].toSorted());
  for (const type of measured)
    expect([type, meanings.has(`delegate-${type}`), meanings.has(`delegate-${type}-del`)]).toEqual([type, true, true]);
});

test("an ADD takes at most 0.6 and a DEL at most 0.8 of the native plugin's time", () => {
  const row = { unit: "ms", n: 1, median: 6, p95: 6, baseline: 10, baselineP95: 10 };
  expect(verdict({ ...row, id: "delegate-ptp", ratio: 0.6 })).toMatch(/met$/u);
  expect(verdict({ ...row, id: "delegate-ptp", ratio: 0.61 })).toMatch(/NOT MET/u);
  expect(verdict({ ...row, id: "delegate-ptp-del", ratio: 0.8 })).toMatch(/met$/u);
  expect(verdict({ ...row, id: "delegate-ptp-del", ratio: 0.81 })).toMatch(/NOT MET/u);
  const rows = [
    { ...row, id: "delegate-ptp", ratio: 0.306 },
    { id: "delegate-ptp-del", failed: "no pod" },
  ];
  expect([delegateRatio(rows, "ptp", "ADD"), delegateRatio(rows, "ptp", "DEL"), delegateRatio(rows, "tap", "ADD")]).toEqual([
    "0.31",
    "",
    "",
  ]);
});
