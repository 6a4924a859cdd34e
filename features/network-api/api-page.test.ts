import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { descriptorModule, descriptorPath } from "./descriptor-module.ts";
import { networkApiPage, networkApiPagePath } from "./api-page.ts";

test("the page of the CRI Network API is generated from deploy/proto (npm run docs)", () => {
  expect(readFileSync(networkApiPagePath, "utf8")).toBe(networkApiPage());
});

test("the daemon's descriptor of the CRI Network API is generated from deploy/proto (npm run docs)", () => {
  expect(readFileSync(descriptorPath, "utf8")).toBe(descriptorModule());
});
