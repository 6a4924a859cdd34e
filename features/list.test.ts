import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { isJsonObject } from "../src/json/document.ts";
import { catalogue } from "../src/fault/catalogue.ts";
import { features } from "./list.ts";

const read = (path: string): string => readFileSync(join(import.meta.dirname, "..", path), "utf8");
const reference = read("docs/reference/configuration.md");
const values: unknown = parse(read("deploy/helm/plexus/values.yaml"));

test("the list names each folder of features/ once", () => {
  const folders = readdirSync(import.meta.dirname, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect(features.map(({ name }) => name).toSorted()).toEqual(folders.map(({ name }) => name).toSorted());
});

test("of each error that the catalogue gives to a feature of this build, the feature's description names it", () => {
  const owned = Object.entries(catalogue).flatMap(([kind, entry]) =>
    entry.feature === undefined ? [] : [[entry.feature, kind]],
  );
  const built = owned.filter(([feature = ""]) => existsSync(join(import.meta.dirname, feature)));
  expect(features.flatMap(({ name, errors }) => errors.map((kind) => [name, kind])).toSorted()).toEqual(built.toSorted());
});

describe.each(features)("$name", ({ keys, chartValues }) => {
  test("its keys are keys of the configuration", () => {
    expect(keys.filter((key) => !reference.includes(`| \`${key}\` |`))).toEqual([]);
  });

  test("its values are values of the chart", () => {
    expect(chartValues.filter((name) => !isJsonObject(values) || !Object.hasOwn(values, name))).toEqual([]);
  });
});
