import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { root } from "../test/lab/compiled.ts";
import { readTimes, timesPagePath, withTimes } from "./external-port-times.ts";

const page = readFileSync(join(root, timesPagePath), "utf8");

describe("the table of times of external ports", () => {
  test("has the figures of its file (node scripts/external-port-times.ts)", () => {
    expect(withTimes(page, readTimes())).toBe(page);
  });

  test("has a row for each figure with a label, and no other", () => {
    const rows = { askedToReady: { medianMs: 12.4, maxMs: 30 }, unknown: { medianMs: 1, maxMs: 1 } };
    const changed = withTimes(page, { day: "2026-01-02", machine: "a machine", pods: 3, rows });
    expect(changed).toContain("| 12 ms | 30 ms |");
    expect(changed).not.toContain("| 1 ms |");
  });

  test("needs its marks in the page", () => {
    expect(() => withTimes("no marks", readTimes())).toThrow("has no <!-- times");
  });
});
