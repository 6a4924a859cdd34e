import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { catalogue } from "../src/fault/catalogue.ts";
import { errorsPage, errorsPagePath } from "./errors-page.ts";

test("the page of errors is the catalogue's (npm run docs writes it)", () => {
  expect(readFileSync(errorsPagePath, "utf8")).toBe(errorsPage());
});

test("every kind of the catalogue is used, and none is used that it lacks", () => {
  const sources = ["src", "host"]
    .flatMap((room) => readdirSync(room, { recursive: true, encoding: "utf8" }).map((name) => join(room, name)))
    .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts") && !path.endsWith("catalogue.ts"));
  const text = sources.map((path) => readFileSync(path, "utf8")).join("\n");
  const unused = Object.keys(catalogue).filter((kind) => !text.includes(`"${kind}"`));
  expect(unused).toEqual([]);
});

test.each(Object.entries(catalogue))("%s says who acts and how, in sentences", (_kind, entry) => {
  expect(entry.cni).toBeGreaterThan(0);
  expect(entry.meaning).toMatch(/^[A-Z].*\.$/);
  expect(entry.remedy).toMatch(/^[A-Z].*[.]$/);
});
