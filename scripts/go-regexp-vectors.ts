// Makes src/sysctl/fixtures/go-regexp.jsonl: random expressions and texts, each with the verdict of Go's package regexp. Requires Go.
// Usage: node scripts/go-regexp-vectors.ts

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";

/** Parts of expressions. Some combinations are invalid, which both implementations must report. */
const pieces = String.raw`a b - _ . / net conf IFNAME 0 é \. \/ \- \d \D \w \W \s \S \A \z \b \B \n \x61 \10 \x{e9} \ * + ? *? {2} {1,2} {0,} {,2} { } {2,1} {1001}
  ^ $ | ( ) (?: (?P<n> [ab] [^a] [a-z_] []a] [^]a] [a-] [-a] [\d.] [[:alpha:]] [[:^digit:]] [[:none:]] [z-a] [a ] [:alpha:] [\w-] [a-\d]`;
/** Rare parts: flags, groups of other engines, classes of Unicode, quotation, escapes. */
const rarePieces = String.raw`(?<n> (?P<m> (?i) (?i: (?s) (?m) (?U) (?-s) (?is-m: (?x) (?=a) (?<=a) (?!a) \pL \p{Greek} \P{Lu} \p{^Lu} \p{None} [\pL] [^\P{Lu}]
  \Q \E \Qa.b\E \C \K \R \Z \h \v \1 \k<n> \G \_ \< [\Q] [\b] [[a]] [a&&b] ſ K \0 \377 \400 \x{} \x{10ffff} \x{110000} ++ {1000} {1000,}`;

const characters = ["a", "b", "z", "A", "-", "_", ".", "/", "0", "net", "conf", "é", "\n", " ", "{2}", "\\", "]"];
const rareCharacters = ["B", "NET", "É", "α", "Α", "K", "ſ", "s", "😀", "ı"];

/** Random expressions, each with a text to match. */
function sample(
  count: number,
  seed: number,
  parts: readonly string[],
  subjects: readonly string[],
): readonly (readonly [string, string])[] {
  const pattern = fc.array(fc.constantFrom(...parts, " ", "\n"), { maxLength: 7 }).map((chosen) => chosen.join(""));
  const subject = fc.array(fc.constantFrom(...subjects), { maxLength: 6 }).map((chosen) => chosen.join(""));
  return fc.sample(fc.tuple(pattern, subject), { numRuns: count, seed });
}

const common = pieces.split(/\s+/);
const pairs = [
  ...sample(4000, 42, common, characters),
  ...sample(2000, 7, [...common, ...rarePieces.split(/\s+/)], [...characters, ...rareCharacters]),
];

const program = `package main

import ("encoding/json"; "os"; "regexp")

func main() {
  var pairs [][2]string
  json.NewDecoder(os.Stdin).Decode(&pairs)
  lines := json.NewEncoder(os.Stdout)
  lines.SetEscapeHTML(false)
  for _, pair := range pairs {
    match, err := regexp.MatchString(pair[0], pair[1])
    if err != nil { lines.Encode([]any{pair[0], pair[1], "mistake"}) } else { lines.Encode([]any{pair[0], pair[1], match}) }
  }
}
`;

const directory = mkdtempSync(join(tmpdir(), "plexus-go-"));
try {
  writeFileSync(join(directory, "main.go"), program);
  const env = { ...process.env, GO111MODULE: "off" };
  const lines = execFileSync("go", ["run", "main.go"], { cwd: directory, input: JSON.stringify(pairs), env });
  writeFileSync(new URL("../src/sysctl/fixtures/go-regexp.jsonl", import.meta.url), lines);
} finally {
  rmSync(directory, { recursive: true });
}
