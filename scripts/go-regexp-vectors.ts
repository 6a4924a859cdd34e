// Makes src/sysctl/fixtures/go-regexp.jsonl: random expressions and texts, each with what Go's package regexp says of them. Needs Go:
// node scripts/go-regexp-vectors.ts

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";

/** Pieces that Go and this know; joined, some of them make mistakes that both must see. */
const pieces = String.raw`a b - _ . / net conf IFNAME 0 é \. \/ \- \d \D \w \W \s \S \A \z \b \B \n \x61 \10 \x{e9} \ * + ? *? {2} {1,2} {0,} {,2} { } {2,1} {1001}
  ^ $ | ( ) (?: (?P<n> [ab] [^a] [a-z_] []a] [^]a] [a-] [-a] [\d.] [[:alpha:]] [[:^digit:]] [[:none:]] [z-a] [a ] [:alpha:] [\w-] [a-\d]`;
const piece = fc.constantFrom(...pieces.split(/\s+/), " ", "\n");
const pattern = fc.array(piece, { maxLength: 7 }).map((chosen) => chosen.join(""));
const subject = fc.array(
  fc.constantFrom("a", "b", "z", "A", "-", "_", ".", "/", "0", "net", "conf", "é", "\n", " ", "{2}", "\\", "]"),
  { maxLength: 6 },
);

const pairs = fc
  .sample(fc.tuple(pattern, subject), { numRuns: 4000, seed: 42 })
  .map(([expression, parts]) => [expression, parts.join("")] as const);

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
