import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { conformancePage, conformancePagePath } from "./conformance-page.ts";

test("the page of conformance is the checklist's (npm run docs writes it)", () => {
  expect(readFileSync(conformancePagePath, "utf8")).toBe(conformancePage());
});
