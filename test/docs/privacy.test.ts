// One style of privacy: `#name`, which the language itself enforces at run time. `private` remains for constructors, which have no other form.
// AssemblyScript does not read `#name`, so the guests' sources (`assembly/`) keep the keyword.

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAst } from "rolldown/parseAst";
import { describe, expect, test } from "vitest";
import { root } from "../lab/compiled.ts";

const files = globSync("{src,host,features,scripts,bench,delegates,test,deploy,wit}/**/*.{ts,mts,tsx}", { cwd: root })
  .filter((path) => !/node_modules|\/assembly\/|\/generated\//.test(path))
  .toSorted();

/** `line: name` of each member with an accessibility keyword, and of each constructor parameter that declares a member. */
function keywordMembers(text: string, tsx: boolean): readonly string[] {
  const found: string[] = [];
  const at = (node: object): string => {
    const { start, end } = node as { readonly start: number; readonly end: number };
    return `${text.slice(0, start).split("\n").length}: ${text.slice(start, end).split("\n")[0]}`;
  };
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    if (Array.isArray(value)) return value.forEach(visit);
    const { type, accessibility, kind } = value as Readonly<Record<string, unknown>>;
    const isConstructor = kind === "constructor" && accessibility === "private";
    if (type === "TSParameterProperty" || (typeof accessibility === "string" && !isConstructor)) found.push(at(value));
    Object.values(value).forEach(visit);
  };
  visit(parseAst(text, { lang: tsx ? "tsx" : "ts" }));
  return found;
}

test("no member is declared with `private`, `protected` or `public`: a private one is called `#name`", () => {
  // Reading a text is cheap, parsing is not.
  const suspicious = files.flatMap((file) => {
    const text = readFileSync(join(root, file), "utf8");
    return /\b(?:private|protected|public|readonly)\b/.test(text) && text.includes("class ") ? [{ file, text }] : [];
  });
  const found = suspicious.flatMap(({ file, text }) => keywordMembers(text, file.endsWith("x")).map((each) => `${file}:${each}`));
  expect(found).toEqual([]);
  expect(suspicious.length).toBeGreaterThan(100);
});

describe("the rule", () => {
  test.each([
    "class A { private x = 1; }",
    "class A { protected f(): void {} }",
    "class A { private static readonly free = []; }",
    "class A { private get x(): number { return 1; } }",
    "class A { public x = 1; }",
    "class A { constructor(private readonly x: number) {} }",
    "class A { constructor(readonly x: number) {} }",
    "class A { protected constructor() {} }",
  ])("finds %j", (text) => {
    expect(keywordMembers(text, false)).toHaveLength(1);
  });

  test.each([
    "class A { #x = 1; static #f(): void {} }",
    "class A { private constructor() {} }",
    "const x = { private: true };",
    "class A { readonly x = 1; }",
  ])("accepts %j", (text) => {
    expect(keywordMembers(text, false)).toEqual([]);
  });
});
