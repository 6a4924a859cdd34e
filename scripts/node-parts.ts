// Writes the list "What a node runs" of docs/architecture.md: the programs, the parts that each can load, and their lines of code (`npm run docs`).
// test/docs/node-parts.test.ts compares the list with the tree.

import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { closure, type Imports, readImports } from "./shape/imports.ts";
import { type Checkout, codeLines, isProductCode, openCheckout } from "./shape/source-files.ts";

/** The page, from the repository's root. */
export const nodePartsPage = "docs/architecture.md";

/** A program on a node. */
interface Program {
  readonly name: string;
  /** TypeScript: the files with which the program begins. */
  readonly entries?: readonly string[];
  /** Other languages: all sources of the program. */
  readonly sources?: RegExp;
}

const programs: readonly Program[] = [
  { name: "shim, agent", sources: /^host\/shim\/.*\.[ch]$/ },
  { name: "one-shot engine", entries: ["host/programs/plexusd/once.ts"] },
  { name: "daemon", entries: ["host/programs/plexusd/main.ts"] },
  { name: "sandbox process", entries: ["host/sandbox/process/main.ts"], sources: /^host\/sandbox\/launcher\/.*\.[ch]$/ },
  { name: "components", sources: /^delegates\/(?:[^/]+|sdk)\/assembly\/.*\.ts$/ },
  { name: "plexusctl", entries: ["host/programs/plexusctl/main.ts", "delegates/sdk/program/sandbox-main.ts"] },
  { name: "its page", entries: ["host/programs/plexusctl/ui/page/main.tsx"] },
  { name: "controller", entries: ["host/programs/controller/main.ts"] },
];

/** The lines of one part, by program. A part is a module, or the sources of a program in another language. */
export type NodeParts = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** The column of the lines that at least one program can load. */
const anyProgram = "all";

/** The lines of code of each part that each program can load. Throws if a program's entry does not exist. */
export function nodeParts(checkout: Checkout): NodeParts {
  const code = checkout.files
    .filter((file) => isProductCode(file) || programs.some(({ sources }) => sources?.test(file)))
    .filter((file) => !/^\/\/ Generated |\bDo not edit\b/.test(checkout.read(file).slice(0, 200)));
  const imports = readImports(checkout, code.filter(isProductCode));
  const parts = new Map<string, Map<string, Set<string>>>();
  for (const program of programs) {
    for (const file of filesOf(program, code, imports)) {
      const part = partOf(file);
      const columns = parts.get(part) ?? new Map<string, Set<string>>();
      parts.set(part, columns);
      for (const name of [program.name, anyProgram]) columns.set(name, (columns.get(name) ?? new Set()).add(file));
    }
  }
  const lines = (files: ReadonlySet<string>): number => [...files].reduce((sum, file) => sum + codeLines(checkout.read(file)), 0);
  return new Map(
    [...parts]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([part, columns]) => [part, new Map([...columns].map(([name, files]) => [name, lines(files)]))]),
  );
}

/** The list as a table. Figures have two digits, so that a small change of the code changes no page. */
export function nodePartsTable(parts: NodeParts): string {
  const names = [anyProgram, ...programs.map(({ name }) => name)];
  const total = (name: string): number => [...parts.values()].reduce((sum, columns) => sum + (columns.get(name) ?? 0), 0);
  const rows = [...parts].map(
    ([part, columns]) => `| \`${part}/\` | ${names.map((name) => figure(columns.get(name))).join(" | ")} |`,
  );
  return [
    `| part | ${names.join(" | ")} |`,
    `|---|${names.map(() => "---:|").join("")}`,
    ...rows,
    `| together | ${names.map((name) => figure(total(name))).join(" | ")} |`,
  ].join("\n");
}

/** The table in a page's text. Throws if the page lacks its heading. */
export function tableIn(page: string): { readonly before: string; readonly table: string; readonly after: string } {
  const section = page.indexOf("\n## What a node runs\n");
  const start = page.indexOf("\n| part |", section) + 1;
  if (section === -1 || start === 0) throw new Error(`${nodePartsPage} has no table below "What a node runs"`);
  const end = page.indexOf("\n\n", start);
  return { before: page.slice(0, start), table: page.slice(start, end), after: page.slice(end) };
}

function filesOf({ name, entries = [], sources }: Program, code: readonly string[], imports: Imports): ReadonlySet<string> {
  const absent = entries.find((entry) => !imports.has(entry));
  if (absent !== undefined) throw new Error(`${name}: no file ${absent}; scripts/node-parts.ts has the programs' entries`);
  const loaded = [...closure(imports, entries, ["static", "dynamic"])].filter((file) => imports.has(file));
  return new Set([...loaded, ...code.filter((file) => sources?.test(file))]);
}

function partOf(file: string): string {
  if (/^delegates\/.*\/assembly\//.test(file)) return "delegates";
  return (
    /^(?:host\/(?:sandbox\/launcher|programs\/[^/]+(?:\/ui\/page)?|[^/]+)|features\/[^/]+|delegates\/sdk|[^/]+)(?=\/)/.exec(
      file,
    )?.[0] ?? file
  );
}

/** Two digits, and empty for a part that a program cannot load. */
function figure(lines: number | undefined): string {
  return lines === undefined ? "" : rounded(lines).toLocaleString("en-US");
}

function rounded(value: number): number {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(value)) - 1);
  return Math.round(value / unit) * unit;
}

if (import.meta.main) {
  const root = resolve(import.meta.dirname, "..");
  const path = join(root, nodePartsPage);
  const { before, after } = tableIn(readFileSync(path, "utf8"));
  writeFileSync(path, `${before}${nodePartsTable(nodeParts(openCheckout(root)))}${after}`);
}
