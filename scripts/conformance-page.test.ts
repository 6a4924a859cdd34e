import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { conformancePage, conformancePagePath } from "./conformance-page.ts";

test("the conformance page is generated from the checklist (npm run docs)", () => {
  expect(readFileSync(conformancePagePath, "utf8")).toBe(conformancePage());
});

test("N11-01: the page states the implemented versions of the specification", () => {
  expect(conformancePage()).toContain("specification, versions 1.0, 1.1, 1.2, 1.3,");
});
