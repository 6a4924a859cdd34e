import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { go, missing } from "../../test/harness/requires.ts";
import { readExpression } from "./expression.ts";

function verdict(pattern: string, text: string): boolean | string {
  const expression = readExpression(pattern);
  return "mistake" in expression ? expression.mistake : expression.matches(text);
}

/** Pieces that Go and this know; joined, some of them make mistakes that both must see. */
const pieces = String.raw`a b - _ . / net conf IFNAME 0 é \. \/ \- \d \D \w \W \s \S \A \z \b \B \n \x61 \10 \x{e9} \ * + ? *? {2} {1,2} {0,} {,2} { } {2,1} {1001}
  ^ $ | ( ) (?: (?P<n> [ab] [^a] [a-z_] []a] [^]a] [a-] [-a] [\d.] [[:alpha:]] [[:^digit:]] [[:none:]] [z-a] [a ] [:alpha:] [\w-] [a-\d]`;
const piece = fc.constantFrom(...pieces.split(/\s+/), " ", "\n");
const pattern = fc.array(piece, { maxLength: 7 }).map((chosen) => chosen.join(""));
const subject = fc.array(
  fc.constantFrom("a", "b", "z", "A", "-", "_", ".", "/", "0", "net", "conf", "é", "\n", " ", "{2}", "\\", "]"),
  { maxLength: 6 },
);

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
    const started = performance.now();
    expect(verdict("^(a+)+$", `${"a".repeat(5000)}!`)).toBe(false);
    expect(verdict("^(a|a?)*$", `${"a".repeat(5000)}!`)).toBe(false);
    expect(verdict("(.*)(.*)(.*)(.*)(.*)x$", "a".repeat(5000))).toBe(false);
    // Exponential is longer than any machine's patience; this is some milliseconds.
    expect(performance.now() - started).toBeLessThan(20_000);
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
    const told = fc.property(fc.string(), subject, (text, parts) => {
      expect(["boolean", "string"]).toContain(typeof verdict(text, parts.join("")));
    });
    fc.assert(told, { numRuns: 500 });
  });

  it.skipIf(missing("expressions against Go's", go))("means what it means to Go", () => {
    const pairs = fc
      .sample(fc.tuple(pattern, subject), { numRuns: 5000, seed: 42 })
      .map(([one, parts]) => [one, parts.join("")] as const);
    const program = `package main
import ("encoding/json"; "os"; "regexp")
func main() {
  var pairs [][2]string
  json.NewDecoder(os.Stdin).Decode(&pairs)
  told := []any{}
  for _, pair := range pairs {
    match, err := regexp.MatchString(pair[0], pair[1])
    if err != nil { told = append(told, "mistake") } else { told = append(told, match) }
  }
  json.NewEncoder(os.Stdout).Encode(told)
}`;
    const directory = mkdtempSync(join(tmpdir(), "plexus-go-"));
    try {
      writeFileSync(join(directory, "main.go"), program);
      const env = { ...process.env, GO111MODULE: "off" };
      const { stdout, stderr } = spawnSync("go", ["run", "main.go"], {
        cwd: directory,
        input: JSON.stringify(pairs),
        env,
        encoding: "utf8",
      });
      expect(stderr).toBe("");
      const told: unknown = JSON.parse(stdout);
      const ours = pairs.map(([one, text]) => {
        const answer = verdict(one, text);
        return typeof answer === "string" ? "mistake" : answer;
      });
      expect(new Set(ours)).toEqual(new Set([true, false, "mistake"]));
      const pairsTold = Array.isArray(told) ? told : [];
      const different = pairs.flatMap((pair, at) => (ours[at] === pairsTold[at] ? [] : [[...pair, ours[at], pairsTold[at]]]));
      expect(different).toEqual([]);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});
