// `node scripts/shape.ts [CHECKOUT…]` prints the shape of one or more checkouts as a table, a column for each: files and lines by module, types of a
// call's context, imports, and how many files an ADD and a WASM step walk. Without an argument: this checkout. Tests and generated code are not counted.

import { basename, resolve } from "node:path";
import { measuresOf } from "./shape/measures.ts";
import { openCheckout } from "./shape/source-files.ts";

/** The table of these checkouts, in Markdown. */
export function shapeTable(roots: readonly string[]): string {
  const columns = roots.map((root) => new Map(measuresOf(openCheckout(root)).map(({ name, value }) => [name, value])));
  const names = [...new Set(columns.flatMap((column) => [...column.keys()]))];
  const lines = names.map((name) => `| ${name} | ${columns.map((column) => column.get(name) ?? "–").join(" | ")} |`);
  const head = `| measure | ${roots.map((root) => basename(resolve(root))).join(" | ")} |\n|---|${roots.map(() => "---|").join("")}`;
  return `${head}\n${lines.join("\n")}\n`;
}

if (import.meta.main) {
  const roots = process.argv.slice(2);
  process.stdout.write(shapeTable(roots.length === 0 ? [resolve(import.meta.dirname, "..")] : roots));
}
