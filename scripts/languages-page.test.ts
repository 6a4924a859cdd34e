import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { languagesPage } from "./languages-page.ts";

test("docs/reference/languages.md is the page of the committed figures", () => {
  expect(readFileSync("docs/reference/languages.md", "utf8")).toBe(languagesPage());
});
