// The imports between the sources of a checkout, from their syntax trees.

import { dirname, join, normalize } from "node:path";
import { parseAst } from "rolldown/parseAst";
import type { Checkout } from "./source-files.ts";

/** `type`: erased by the build. `dynamic`: `import()`, loaded when the program comes there. */
export type ImportKind = "static" | "type" | "dynamic";

/** One import of a file by another one. */
export interface Import {
  readonly to: string;
  readonly kind: ImportKind;
}

/** The imports of each TypeScript file; packages and `node:` modules are left out. */
export type Imports = ReadonlyMap<string, readonly Import[]>;

interface Node {
  readonly type: string;
  readonly [key: string]: unknown;
}

/** Reads the imports of `files`. */
export function readImports(checkout: Checkout, files: readonly string[]): Imports {
  return new Map(
    files.filter((file) => /\.(?:ts|mts|tsx)$/.test(file)).map((file) => [file, importsOf(file, checkout.read(file))] as const),
  );
}

/** The imports of one file by relative paths. */
export function importsOf(file: string, text: string): readonly Import[] {
  const found: Import[] = [];
  visit(parseAst(text, { lang: file.endsWith("x") ? "tsx" : "ts" }), (node) => {
    const kind = kindOf(node);
    const source = (node["source"] as { readonly value?: unknown } | undefined)?.value;
    if (kind === undefined || typeof source !== "string" || !source.startsWith(".")) return;
    found.push({ to: normalize(join(dirname(file), source)), kind });
  });
  return found;
}

/** The files that `entries` need, themselves included, over imports of these kinds. */
export function closure(imports: Imports, entries: readonly string[], kinds: readonly ImportKind[]): ReadonlySet<string> {
  const found = new Set(entries);
  // A set also yields what is added during the loop.
  for (const file of found) {
    for (const { to, kind } of imports.get(file) ?? []) if (kinds.includes(kind)) found.add(to);
  }
  return found;
}

function kindOf(node: Node): ImportKind | undefined {
  const erased = (specifiers: unknown, key: string): boolean =>
    Array.isArray(specifiers) && specifiers.length > 0 && specifiers.every((each) => (each as Node)[key] === "type");
  switch (node.type) {
    case "ImportDeclaration":
      return node["importKind"] === "type" || erased(node["specifiers"], "importKind") ? "type" : "static";
    case "ExportNamedDeclaration":
    case "ExportAllDeclaration":
      return node["exportKind"] === "type" || erased(node["specifiers"], "exportKind") ? "type" : "static";
    case "ImportExpression":
      return "dynamic";
    default:
      return undefined;
  }
}

function visit(value: unknown, each: (node: Node) => void): void {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) return value.forEach((member) => visit(member, each));
  if (typeof (value as Partial<Node>).type === "string") each(value as Node);
  for (const member of Object.values(value)) visit(member, each);
}
