// Writes the figures of README.md, a part of the comparison in docs/reference/performance.md (`npm run docs`).

import { readFileSync, writeFileSync } from "node:fs";
import { type ComparedQuantity, comparedQuantities, contenders, imageSizes } from "./performance-comparison.ts";
import { benchmarkPath } from "./performance-page.ts";
import { hasFailed, type FailedRow, type Row } from "./performance-target.ts";

/** The page with the figures, from the repository's root. */
export const readmePath = "README.md";

const begin = "<!-- figures of docs/reference/benchmark.json, written by `npm run docs` -->\n";
const end = "<!-- end of the figures -->";

/** The lines that a newcomer compares by, with their words. */
const shown: Readonly<Record<string, string>> = {
  "ADD, default network only": "ADD of a pod with one network",
  "ADD, three further networks": "ADD of a pod with four networks",
  "burst: 32 pods at once": "32 pods at once",
  "memory of the daemon": "memory of the daemon",
};

const columns = contenders.filter((name) => name === "Multus thick" || name.startsWith("Plexus"));

/** The table of README.md. Throws if the result of the benchmark lacks a line. */
export function readmeFigures(quantities: readonly ComparedQuantity[]): string {
  const lines = Object.entries(shown).map(([what, words]) => {
    const quantity = quantities.find((each) => each.what === what);
    if (quantity === undefined) throw new Error(`benchmark.json has no rows for "${what}"`);
    const cells = columns.map((name) => {
      const figure = quantity.figures.get(name);
      if (figure === undefined) throw new Error(`benchmark.json has no figure of ${name} for "${what}"`);
      return `${Number(figure.value.toPrecision(2))} ${quantity.unit}${figure.share === 1 ? "" : ` (${figure.share.toFixed(2)})`}`;
    });
    return `| ${words} | ${cells.join(" | ")} |`;
  });
  return `| | ${columns.join(" | ")} |\n|${"---|".repeat(columns.length + 1)}\n${lines.join("\n")}\n`;
}

/** README.md with the figures of docs/reference/benchmark.json. */
export function readmeWithFigures(): string {
  const page = readFileSync(readmePath, "utf8");
  const [before, rest, ...more] = page.split(begin);
  const after = rest?.indexOf(end) ?? -1;
  if (before === undefined || rest === undefined || more.length > 0 || after === -1)
    throw new Error(`${readmePath} needs the lines ${begin.trim()} and ${end} once`);
  const all: readonly (Row | FailedRow)[] = JSON.parse(readFileSync(benchmarkPath, "utf8"));
  const rows = all.filter((row): row is Row => !hasFailed(row));
  return `${before}${begin}${readmeFigures(comparedQuantities(rows, imageSizes()))}${rest.slice(after)}`;
}

if (import.meta.main) writeFileSync(readmePath, readmeWithFigures());
