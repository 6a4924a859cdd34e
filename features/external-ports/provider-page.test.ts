import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { providerPage, providerPagePath, providerSchema, providerSchemaPath } from "./provider-page.ts";

test("the page and the schema of providers are generated from the checks and the messages (npm run docs)", () => {
  expect(readFileSync(providerPagePath, "utf8")).toBe(providerPage());
  expect(readFileSync(providerSchemaPath, "utf8")).toBe(providerSchema());
});
