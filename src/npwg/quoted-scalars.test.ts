import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { indentQuotedScalars } from "./quoted-scalars.ts";
import { cpuMs } from "../../test/lab/cpu-ms.ts";

describe("quoted values with too little indentation", () => {
  test.each([
    ["single quotes", "spec:\n  config: '{\n\"a\": 1\n}'\n", { spec: { config: '{ "a": 1 }' } }],
    ["double quotes", 'spec:\n  config: "{\n\\"a\\": 1\n}"\n', { spec: { config: '{ "a": 1 }' } }],
    ["within a list", "- config: '{\n}'\n- b: 'it''s\n one'\n", [{ config: "{ }" }, { b: "it's one" }]],
    ["a quoted key", "'a b': '{\n}'\nc: d\n", { "a b": "{ }", c: "d" }],
    ["an empty line, which is a line break of the value", "a:\n  b: '{\n\n}'\n", { a: { b: "{\n}" } }],
  ])("%s: they are read as Kubernetes does", (_, text, value) => {
    expect(() => parse(text) as unknown).toThrow(/quote|indent|column|flow|map/i);
    expect(parse(indentQuotedScalars(text))).toEqual(value);
  });

  test.each([
    ["text with correct indentation", "a:\n  b: '{\n    }'\n  c: it's\n"],
    ["block scalars with quotes", "a:\n  b: |\n    c: '{\n    }'\n  d: >-\n    e: \"x\n    y\n"],
    ["comments", "# a: '{\nb: c # d: '{\n"],
    ["plain values with quotes", "a: b'c\nd: e\n"],
    ["a quote that is open at a document's end", "a: '{\n---\nb: c\n"],
    ["a quote that is open at the text's end", "a:\n  b: '{\n}\n"],
  ])("%s: unchanged", (_, text) => {
    expect(indentQuotedScalars(text)).toBe(text);
  });

  test("A-03: a megabyte of quotes and spaces is read fast", () => {
    const start = cpuMs();
    for (const each of [
      "a: '\n",
      " ".repeat(1_000) + "\n",
      "- ".repeat(500) + "\n",
      "- ".repeat(190) + "\n",
      ": ".repeat(190) + "\n",
      "''''''''",
      "a: b: c: d: ",
    ]) {
      const text = each.repeat(1_000_000 / each.length);
      expect(indentQuotedScalars(text).length).toBeGreaterThanOrEqual(text.length);
    }
    expect(cpuMs() - start).toBeLessThan(3_000);
  });
});
