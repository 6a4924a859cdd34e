import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { pluginConformancePage, pluginConformancePagePath } from "./plugin-conformance-page.ts";

test("the page of plugins' conformance is generated from the catalogue and the outcomes (npm run docs)", () => {
  expect(readFileSync(pluginConformancePagePath, "utf8")).toBe(pluginConformancePage());
});
