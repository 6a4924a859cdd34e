import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { plexusctlPage, plexusctlPagePath } from "./plexusctl-page.ts";

test("the page of plexusctl is generated from its table of commands (npm run docs)", () => {
  expect(readFileSync(plexusctlPagePath, "utf8")).toBe(plexusctlPage());
});
