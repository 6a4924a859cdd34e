// The list "What a node runs" of docs/architecture.md against the tree. Parts and programs are equal; a figure may lag behind by a tenth, so that not
// every change of the code changes the page.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { nodeParts, nodePartsPage, nodePartsTable, tableIn } from "../../scripts/node-parts.ts";
import { openCheckout } from "../../scripts/shape/source-files.ts";
import { root } from "../lab/compiled.ts";
import { missing } from "../lab/requires.ts";

const noWorkTree = (): string | undefined => (existsSync(join(root, ".git")) ? undefined : "this is no git work tree");

/** The table's cells, with figures as numbers. */
function cells(table: string): readonly (readonly (string | number)[])[] {
  return table.split("\n").map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => (/^[\d,]+$/.test(cell.trim()) ? Number(cell.replaceAll(",", "")) : cell.trim())),
  );
}

describe.skipIf(missing("what a node runs", noWorkTree))("what a node runs", () => {
  const page = tableIn(readFileSync(join(root, nodePartsPage), "utf8")).table;
  const parts = nodeParts(openCheckout(root));
  const today = cells(nodePartsTable(parts));
  const written = cells(page);

  test("the page has the parts and programs of today (node scripts/node-parts.ts)", () => {
    const shape = (rows: typeof today) => rows.map((row) => row.map((cell) => (typeof cell === "number" ? "lines" : cell)));
    expect(shape(written)).toEqual(shape(today));
  });

  test("the page's figures differ from today's by a tenth at most (node scripts/node-parts.ts)", () => {
    const stale = today.flatMap((row, index) =>
      row.flatMap((figure, column) => {
        const shown = written[index]?.[column];
        const isStale = typeof figure === "number" && typeof shown === "number" && Math.abs(figure - shown) > figure / 10 + 20;
        return isStale ? [`${String(row[0])}, ${String(today[0]?.[column])}: ${shown}, today ${figure}`] : [];
      }),
    );
    expect(stale).toEqual([]);
  });

  test("the engine, its sandbox and the rules are parts of the daemon", () => {
    for (const part of ["host/engine", "host/sandbox", "src"]) expect(parts.get(part)?.get("daemon")).toBeGreaterThan(1000);
  });

  test("no program of a node contains tests, scripts or the benchmark", () => {
    expect([...parts.keys()].filter((part) => /^(?:test|scripts|bench)/.test(part))).toEqual([]);
  });
});
