import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { surroundingsPage, surroundingsPagePath, surroundingsRecords } from "./surroundings-page.ts";

test("the page of surroundings is generated from the records (npm run docs)", () => {
  expect(readFileSync(surroundingsPagePath, "utf8")).toBe(surroundingsPage());
});

test("the test of each record exists", () => {
  expect(surroundingsRecords().filter(({ test: path }) => !existsSync(path))).toEqual([]);
});
