// A comment names its subject: a reader who comes from anywhere knows it without the code around (CONTRIBUTING.md, "Write").

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { root } from "../lab/compiled.ts";

const files = globSync("{src,host,features,scripts,bench,delegates,test,wit}/**/*.{ts,tsx,c,h}", { cwd: root })
  // assembly/abi/ is made from wit/ by a build.
  .filter((path) => !/node_modules|\/generated\/|\/assembly\/abi\//.test(path))
  .toSorted();

const noSubjects = ["What", "Which", "Who", "Whose", "It", "Of", "Those", "Nobody", "Somebody", "Something"];
const comment = new RegExp(`^\\s*(?://|/\\*\\*?) (?:${noSubjects.join("|")}) `, "u");

/** `line: text` of each comment that begins without a subject. The second line of a comment may begin so. */
function withoutSubject(text: string): readonly string[] {
  const lines = text.split("\n");
  const begins = (index: number): boolean => !/^\s*\/\//u.test(lines[index - 1] ?? "") || !/^\s*\/\//u.test(lines[index] ?? "");
  return lines.flatMap((line, index) => (comment.test(line) && begins(index) ? [`${index + 1}: ${line.trim()}`] : []));
}

test("each comment begins with its subject", () => {
  const found = files.flatMap((file) => withoutSubject(readFileSync(join(root, file), "utf8")).map((each) => `${file}:${each}`));
  expect(found).toEqual([]);
  expect(files.length).toBeGreaterThan(1000);
});

describe("the rule", () => {
  test.each(["// What it does.", "/** Of all messages. */", "  /** Which of them. */", "/* It ends. */"])("finds %j", (text) => {
    expect(withoutSubject(text)).toHaveLength(1);
  });

  test.each(["// The work.\n// It ends.", "/** Whether it ends. */", "const a = 1; // Of them"])("accepts %j", (text) => {
    expect(withoutSubject(text)).toEqual([]);
  });
});
