// The includes of the C sources: a file and its header are one unit, and includes must not form a circle.

import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const directory = fileURLToPath(new URL("./", import.meta.url));

/** Unit name (`netlink` for netlink.c and netlink.h) → the units that it includes. */
function includes(): ReadonlyMap<string, ReadonlySet<string>> {
  const graph = new Map<string, Set<string>>();
  for (const file of readdirSync(directory).filter((name) => /\.[ch]$/.test(name))) {
    const unit = file.slice(0, -2);
    const included = graph.get(unit) ?? new Set<string>();
    for (const [, header = ""] of readFileSync(`${directory}/${file}`, "utf8").matchAll(/^#include "(.+)\.h"$/gm))
      if (header !== unit) included.add(header);
    graph.set(unit, included);
  }
  return graph;
}

/** The first circle of includes, as `a → b → a`; undefined if there is none. */
function circleIn(graph: ReadonlyMap<string, ReadonlySet<string>>): string | undefined {
  const finished = new Set<string>();
  const visit = (unit: string, path: readonly string[]): string | undefined => {
    if (path.includes(unit)) return [...path.slice(path.indexOf(unit)), unit].join(" → ");
    if (finished.has(unit)) return undefined;
    for (const next of graph.get(unit) ?? []) {
      const circle = visit(next, [...path, unit]);
      if (circle !== undefined) return circle;
    }
    finished.add(unit);
    return undefined;
  };
  for (const unit of graph.keys()) {
    const circle = visit(unit, []);
    if (circle !== undefined) return circle;
  }
  return undefined;
}

test("The shim's sources include each other without a circle", () => {
  const graph = includes();
  expect(graph.get("main")?.size).toBeGreaterThan(3);
  expect(circleIn(graph)).toBeUndefined();
});

test("A circle of includes is found", () => {
  const graph = new Map([...includes()].map(([unit, included]) => [unit, new Set(included)]));
  graph.get("bounds")?.add("main");
  expect(circleIn(graph)).toMatch(/(main → .*bounds)|(bounds → main)/);
});
