import { expect, test } from "vitest";
import { explained } from "./compile-errors.ts";

/** A message of the compiler about this line of the author. */
function message(error: string, line: string): string {
  return `ERROR ${error}\n   :\n 2 │ ${line}\n   │ ~\n   └─ in assembly/index.ts(2,1)\n\nFAILURE 1 parse error(s)`;
}

test.each([
  ["TS1109: Expression expected.", "const x = a?.b;", /Remedy: AssemblyScript has no \?\.: const value = object;/],
  ["TS1109: Expression expected.", 'const x = a ?? "x";', /Remedy: AssemblyScript has no \?\?: value !== null \? value : other/],
  [
    "TS6054: File '~lib/node:fs.ts' not found.",
    'import { readFileSync } from "node:fs";',
    /neither files nor modules of Node.*capability/,
  ],
  ["TS6054: File '~lib/zod.ts' not found.", 'import { z } from "zod";', /files of assembly\/, and plexus\//],
  ["TS2304: Cannot find name 'any'.", "function f(a: any): void {}", /Remedy: name the type/],
  ["TS2304: Cannot find name 'JSON'.", 'JSON.parse("{}");', /Config of plexus\/config/],
  ["TS2304: Cannot find name 'fetch'.", 'fetch("x");', /capability/],
  ["AS100: Not implemented: Closures", "const g = (x: i32): i32 => x + n;", /Remedy: pass the values as parameters/],
  ["AS100: Not implemented: Exceptions", "try { f(); } catch (e) {}", /Remedy: answer a Fault/],
  ["AS100: Not implemented: Iterators", "for (const x of a) {}", /Remedy: for \(let i = 0; i < list\.length; i\+\+\)/],
  ["AS100: Not implemented: union types", "function f(a: string | i32): void {}", /Remedy: only T \| null/],
  ["AS100: Not implemented: Regular expressions", '/a/.test("a");', /Remedy: .*indexOf/],
  ["TS1003: Identifier expected.", "const { b } = a;", /Remedy: AssemblyScript does not take objects apart/],
  ["TS1005: '{' expected.", "export async function f(): void {}", /Remedy: calls of capabilities answer at once/],
])("the compiler's %s in %s has a remedy", (error, line, remedy) => {
  const text = explained(message(error, line));
  expect(text).toMatch(remedy);
  expect(text.startsWith(`ERROR ${error}`)).toBe(true);
});

test("a message about a file of the delegate's own that is missing, and a plain one, stay as they are", () => {
  for (const error of ["TS6054: File 'assembly/other.ts' not found.", "TS2304: Cannot find name 'x'."]) {
    expect(explained(message(error, "x"))).not.toContain("Remedy");
  }
});
