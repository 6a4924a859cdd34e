// The threat model: its promises name tests that exist, and it says what it does not promise.

import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const page = readFileSync("docs/threat-model.md", "utf8");

/** The text below a heading of the second level, up to the next one. */
function sectionOf(title: string): string {
  const [, text = ""] = page.split(`\n## ${title}\n`);
  return text.split("\n## ")[0] ?? "";
}

test("E-22: every test that the threat model names exists, and its promises name tests", () => {
  const files = [...page.matchAll(/`(?<path>[\w./-]+\.test\.ts)`/g)].map(({ groups }) => groups?.["path"] ?? "");
  expect(files.filter((path) => !existsSync(path))).toEqual([]);
  const promises = sectionOf("Promises").match(/^\| (?!promise |---).*\|$/gm) ?? [];
  expect(
    promises.filter(
      (row) => !row.includes("`test/") && !row.includes("`host/") && !row.includes("`src/") && !row.includes("`features/"),
    ),
  ).toEqual([]);
  expect(promises.length).toBeGreaterThan(20);
});

test("E-22: the threat model lists what is not protected", () => {
  expect(sectionOf("No promises").match(/^- [A-Z]/gm)?.length).toBeGreaterThan(5);
});
