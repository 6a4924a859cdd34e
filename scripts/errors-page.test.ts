import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { catalogue, type CatalogueEntry } from "../src/fault/catalogue.ts";
import { errorsPage, errorsPagePath } from "./errors-page.ts";

/** Whether this build has the entry's feature. */
const isBuilt = ({ feature }: CatalogueEntry): boolean => feature === undefined || existsSync(join("features", feature));

test("the errors page is generated from the catalogue (npm run docs)", () => {
  expect(readFileSync(errorsPagePath, "utf8")).toBe(errorsPage());
});

test("the code uses every fault kind of the catalogue", () => {
  const sources = ["src", "host", "features"]
    .flatMap((folder) => readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)))
    .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts") && !path.endsWith("catalogue.ts"));
  const text = sources.map((path) => readFileSync(path, "utf8")).join("\n");
  const unused = Object.entries(catalogue).filter(([kind, entry]) => isBuilt(entry) && !text.includes(`"${kind}"`));
  expect(unused.map(([kind]) => kind)).toEqual([]);
});

test.each(Object.entries(catalogue))("%s has a meaning and a remedy in sentences", (_kind, entry) => {
  expect(entry.cni).toBeGreaterThan(0);
  expect(entry.meaning).toMatch(/^[A-Z].*\.$/);
  expect(entry.remedy).toMatch(/^[A-Z].*[.]$/);
});
