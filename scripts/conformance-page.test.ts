import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { conformancePage, conformancePagePath } from "./conformance-page.ts";

test("the page of conformance is the checklist's (npm run docs writes it)", () => {
  expect(readFileSync(conformancePagePath, "utf8")).toBe(conformancePage());
});

test("N11-01: it states the versions of the specification that are implemented", () => {
  expect(conformancePage()).toContain("specification, versions 1.0, 1.1, 1.2, 1.3,");
});
