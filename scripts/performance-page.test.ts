import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { benchmarkPath, performancePage, performancePagePath, tableRow } from "./performance-page.ts";
import { performancePicture, performancePicturePath } from "./performance-picture.ts";
import { meanings, verdict } from "./performance-rows.ts";
import type { Row } from "./performance-target.ts";

test("the performance page is generated from the committed benchmark (npm run docs)", () => {
  expect(readFileSync(performancePagePath, "utf8")).toBe(performancePage());
});

test("the picture of the comparison is drawn from the committed benchmark (npm run docs)", () => {
  expect(readFileSync(performancePicturePath, "utf8")).toBe(performancePicture());
});

test("every row of the committed benchmark is explained", () => {
  const rows: readonly Row[] = JSON.parse(readFileSync(benchmarkPath, "utf8"));
  expect(rows.map(({ id }) => id).filter((id) => !meanings.has(id))).toEqual([]);
});

test("a missed target is marked NOT MET", () => {
  const row = { id: "shim-version", unit: "ms", n: 1, median: 2, p95: 2, baseline: 1, baselineP95: 1, ratio: 2 };
  expect(verdict(row)).toBe("at most 2 ms: met");
  expect(verdict({ ...row, median: 2.1 })).toBe("at most 2 ms: **NOT MET**");
});

test("a goal beyond the target is judged apart", () => {
  const row = { id: "daemon-rss", unit: "MiB", n: 1, median: 101, p95: 101, baseline: 120, baselineP95: 120, ratio: 0.84 };
  expect(verdict(row)).toBe("at most 120 MiB: met; goal at most 75 MiB: **NOT MET**");
  expect(verdict({ ...row, median: 74 })).toBe("at most 120 MiB: met; goal at most 75 MiB: met");
});

test("a failed benchmark is marked failed, with its reason", () => {
  expect(tableRow({ id: "multus-c32-thin", failed: "thin ADD: 2 of 200\ncalls | failed" })).toMatch(
    /^\| `multus-c32-thin` \| [^|]+ \| \| \| \| \| \| \| \*\*failed\*\*: thin ADD: 2 of 200 calls \\\| failed \|$/u,
  );
});
