import { existsSync, readFileSync, statSync } from "node:fs";
import { expect, test } from "vitest";
import { performancePage, performancePagePath } from "./performance-page.ts";

test("the figures of the performance page are those of the committed benchmark (npm run docs writes it)", () => {
  expect(readFileSync(performancePagePath, "utf8")).toBe(performancePage());
});

test("the component of ipam-host-local is smaller than 64 KiB, the hands are smaller than 1 MiB", () => {
  expect(existsSync("dist/plexus")).toBe(true);
  expect(statSync("dist/delegates/ipam-host-local.wasm").size).toBeLessThan(64 * 1024);
  expect(statSync("dist/plexus").size).toBeLessThan(1024 * 1024);
});
