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

  it("takes no longer for what makes others' time explode", () => {
    // Exponential time would be longer than any machine's.
    expect(verdict("^(a+)+$", `${"a".repeat(5000)}!`)).toBe(false);
    expect(verdict("^(a|a?)*$", `${"a".repeat(5000)}!`)).toBe(false);
    expect(verdict("(.*)(.*)(.*)(.*)(.*)x$", "a".repeat(5000))).toBe(false);
  });

  it("is refused where it is none, or not known here, and says why", () => {
    for (const [wrong, why] of [
      ["a)", "has a ) without ("],
      ["(a", "has a ( without )"],
      ["*a", "has nothing before *"],
      ["a**", "repeats a repetition without parentheses"],
      ["[a", "ends too early"],
      ["[z-a]", "has a range that ends before it begins"],
      ["a\\", "ends too early"],
      ["(?i)a", "has (?i, which is not known here"],
      ["(?=a)", "has (?=, which is not known here"],
      ["\\pL", "has \\p, which is not known here"],
      ["\\Qa\\E", "has \\Q, which is not known here"],
      ["(a)\\1", "has \\1, which is not known here"],
      ["a{1001}", "has the repetition {1001}"],
      ["((a{100}){100}){100}", "is too large"],
      ["(".repeat(200) + ")".repeat(200), "nests deeper than 100"],
    ] as const)
      expect([wrong, verdict(wrong, "a")]).toEqual([wrong, expect.stringContaining(why)]);
  });

  it("never throws", () => {
    const told = fc.property(fc.string(), fc.string(), (text, subject) => {
      expect(["boolean", "string"]).toContain(typeof verdict(text, subject));
    });
    fc.assert(told, { numRuns: 500 });
  });

  // scripts/go-regexp-vectors.ts made them.
  it("means what it means to Go, by 4,000 random expressions and texts", () => {
    const lines = readFileSync(new URL("fixtures/go-regexp.jsonl", import.meta.url), "utf8")
      .trim()
      .split("\n");
    const vectors = lines.map((line): unknown => JSON.parse(line)).filter((vector) => Array.isArray(vector));
    const ours = vectors.map(([one, text]) => {
      const answer = verdict(String(one), String(text));
      return [one, text, typeof answer === "string" ? "mistake" : answer];
    });
    expect(ours).toHaveLength(4000);
    expect(new Set(vectors.map(([, , answer]) => answer))).toEqual(new Set([true, false, "mistake"]));
    expect(ours).toEqual(vectors);
  });
});
