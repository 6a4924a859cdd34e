import { readFileSync } from "node:fs";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readExpression } from "./expression.ts";

function verdict(pattern: string, text: string): boolean | string {
  const expression = readExpression(pattern);
  return "mistake" in expression ? expression.mistake : expression.matches(text);
}

describe("an expression of the allow-list", () => {
  it("matches anywhere unless it is anchored", () => {
    const key = "net.ipv4.conf.IFNAME.rp_filter";
    for (const wanted of [
      "^net.ipv4.conf.IFNAME.[a-z_]*$",
      "rp_filter",
      "",
      "^net\\.ipv4",
      "(ipv6|ipv4)\\.conf",
      "r?p_f(i|l)+ter$",
    ])
      expect([wanted, verdict(wanted, key)]).toEqual([wanted, true]);
    for (const wanted of ["^ipv4", "rp_filter.", "^net.ipv4.conf.eth0.[a-z_]*$", "^$", "ipv4$", "[A-Z]{7}", "IFNAME\\.arp"])
      expect([wanted, verdict(wanted, key)]).toEqual([wanted, false]);
  });

  it("takes linear time for expressions that take other engines exponential time", () => {
    // Exponential time would exceed any test's time limit.
    expect(verdict("^(a+)+$", `${"a".repeat(5000)}!`)).toBe(false);
    expect(verdict("^(a|a?)*$", `${"a".repeat(5000)}!`)).toBe(false);
    expect(verdict("(.*)(.*)(.*)(.*)(.*)x$", "a".repeat(5000))).toBe(false);
  });

  it("is refused if Go refuses it, with the reason", () => {
    for (const [wrong, why] of [
      ["a)", "unexpected )"],
      ["(a", "missing closing )"],
      ["*a", "missing argument to repetition operator"],
      ["a**", "invalid nested repetition operator"],
      ["[a", "missing closing ]"],
      ["[z-a]", "invalid character class range"],
      ["a\\", "trailing backslash at end of expression"],
      ["(?=a)", "invalid or unsupported Perl syntax"],
      ["\\p{None}", "invalid character class range"],
      ["(a)\\1", "invalid escape sequence"],
      ["a{1001}", "invalid repeat count"],
      ["((a{100}){100}){100}", "invalid repeat count"],
    ] as const)
      expect([wrong, verdict(wrong, "a")]).toEqual([wrong, `is not a Go regular expression: ${why}`]);
  });

  it("is refused if compiling or matching it would delay the node's other calls", () => {
    for (const [costly, why] of [
      ["a".repeat(1001), "is longer than 1000 characters"],
      ["\\pL{1000}".repeat(100), "repeats too much: use smaller repetitions"],
      [`(?:${"\\pL".repeat(100)}){1000}`, "repeats too much: use smaller repetitions"],
      [`${"(".repeat(300)}a${"){2}".repeat(100)}${")".repeat(200)}`, "repeats too much: use smaller repetitions"],
      [`(?:${"a?".repeat(200)}){20}`, "compiles to more than 5000 instructions: use smaller repetitions"],
    ] as const)
      expect([costly, verdict(costly, "a")]).toEqual([costly, why]);
    expect(verdict("^net\\.ipv4\\.[a-z]{1,15}\\.[a-zA-Z0-9_-]{1,15}\\.[a-z_]{1,30}$", "net.ipv4.conf.IFNAME.rp_filter")).toBe(
      true,
    );
  });

  it("never throws", () => {
    const answered = fc.property(fc.string(), fc.string(), (text, subject) => {
      expect(["boolean", "string"]).toContain(typeof verdict(text, subject));
    });
    fc.assert(answered, { numRuns: 500 });
  });

  // Made by scripts/go-regexp-vectors.ts.
  it("matches like Go's regexp, for 6,000 random expressions and texts", () => {
    const lines = readFileSync(new URL("fixtures/go-regexp.jsonl", import.meta.url), "utf8")
      .trim()
      .split("\n");
    const vectors = lines.map((line): unknown => JSON.parse(line)).filter((vector) => Array.isArray(vector));
    const verdicts = vectors.map(([pattern, text]) => {
      const answer = verdict(String(pattern), String(text));
      return [pattern, text, typeof answer === "string" ? "mistake" : answer];
    });
    expect(verdicts).toHaveLength(6000);
    expect(new Set(vectors.map(([, , answer]) => answer))).toEqual(new Set([true, false, "mistake"]));
    expect(verdicts).toEqual(vectors);
  });
});
