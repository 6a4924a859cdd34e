import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { lintPage, lintPagePath } from "./lint-page.ts";

test("the page of lint's rules is generated from them (npm run docs)", () => {
  expect(readFileSync(lintPagePath, "utf8")).toBe(lintPage());
});
