import { existsSync, readFileSync, statSync } from "node:fs";
import { expect, test } from "vitest";
import { benchmarkPath, performancePage, performancePagePath } from "./performance-page.ts";
import { meanings, verdict } from "./performance-rows.ts";
import type { Row } from "./performance-target.ts";

test("the figures of the performance page are those of the committed benchmark (npm run docs writes it)", () => {
  expect(readFileSync(performancePagePath, "utf8")).toBe(performancePage());
});

test("every row of the committed benchmark is explained", () => {
  const rows: readonly Row[] = JSON.parse(readFileSync(benchmarkPath, "utf8"));
  expect(rows.map(({ id }) => id).filter((id) => !meanings.has(id))).toEqual([]);
});

test("a target that is missed is said to be missed", () => {
  const row = { id: "hands-version", unit: "ms", n: 1, median: 2, p95: 2, baseline: 1, ratio: 2 };
  expect(verdict(row)).toBe("at most 2 ms: met");
  expect(verdict({ ...row, median: 2.1 })).toBe("at most 2 ms: **NOT MET**");
});

test("the component of ipam-host-local is smaller than 64 KiB, the hands are smaller than 1 MiB", () => {
  expect(existsSync("dist/plexus")).toBe(true);
  expect(statSync("dist/delegates/ipam-host-local.wasm").size).toBeLessThan(64 * 1024);
  expect(statSync("dist/plexus").size).toBeLessThan(1024 * 1024);
});
