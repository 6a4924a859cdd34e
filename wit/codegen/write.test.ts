import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { releasesIn, witDirectory } from "./releases.ts";
import { generatedDirectories, generatedFiles } from "./write.ts";

const root = join(witDirectory, "..");
const files = await generatedFiles();

test.each([...files])("X-11: %s is what WIT gives: run `node wit/codegen/write.ts` after a change", (path, text) => {
  expect(readFileSync(join(root, path), "utf8")).toBe(text);
});

test("the generated directories have no other file", () => {
  const found = generatedDirectories.flatMap((directory) =>
    readdirSync(join(root, directory), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(root.length).replace(/^\//, "")),
  );
  expect(found.filter((path) => !files.has(path))).toEqual([]);
});

test("each directory of wit/ with a version is a contract, and the generators are none", () => {
  expect(releasesIn(witDirectory)).toContain("1.0.0");
  expect(releasesIn(witDirectory).every((name) => /^[\d.]+$/.test(name))).toBe(true);
});

test("each word of a name begins with a letter, as older tools such as wit-bindgen 0.41 require", () => {
  const wrong = releasesIn(witDirectory).flatMap((version) => {
    const text = readFileSync(join(witDirectory, version, "delegate.wit"), "utf8").replaceAll(/\/\/.*/g, "");
    return [...text.matchAll(/\b[a-z][a-z0-9]*(?:-[a-z0-9]+)*\b/g)].map(([name]) => name).filter((name) => /-[0-9]/.test(name));
  });
  expect(wrong).toEqual([]);
});
