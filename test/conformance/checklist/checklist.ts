// Which rows are held: a row is held by every test whose title, or that of a group around it, begins with its number, alone or in a list ("N1-31 N1-35 …",
// "L-31, A-05: …", "L-51 to L-57: …").

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type Open, openRows } from "./open-rows.ts";
import { type Row, sections } from "./rows.ts";
import { testTitles } from "./test-titles.ts";

export interface HeldRow extends Row {
  /** `file: title` of every test that holds it. */
  readonly tests: readonly string[];
  /** Why no test holds it; undefined for a row that is held, and for one that nobody has explained. */
  readonly open: Open | undefined;
}

/** The rooms in which tests are, as vitest.config.ts has them. */
const rooms = ["src", "host", "delegates", "test", "scripts"];

/** Every row in the order of its section, with the tests of `tests`. */
export function checklist(tests = testsByRow()): readonly HeldRow[] {
  return sections.flatMap(({ rows }) => rows.map((row) => ({ ...row, tests: tests.get(row.id) ?? [], open: openRows[row.id] })));
}

/** How many of the core rows are held. */
export function coreFigure(rows: readonly HeldRow[]): { readonly held: number; readonly all: number; readonly percent: number } {
  const core = rows.filter((each) => each.core);
  const held = core.filter((each) => each.tests.length > 0).length;
  return { held, all: core.length, percent: Math.floor((held / core.length) * 1000) / 10 };
}

/** The rows that a title names at its beginning. */
export function rowsOf(title: string): readonly string[] {
  const rows: string[] = [];
  let rest = title;
  for (;;) {
    const next = /^(?<joint>, | and | to | )?(?<id>(?<kind>[A-Z]+\d*)-(?<number>\d\d))(?![\w-])/.exec(rest);
    if (next?.groups === undefined || (next.groups["joint"] === undefined) !== (rows.length === 0)) return rows;
    const { joint, id = "", kind = "", number = "" } = next.groups;
    const first = Number(rows.at(-1)?.slice(-2));
    if (joint === " to " && rows.at(-1)?.startsWith(`${kind}-`)) {
      for (let each = first + 1; each < Number(number); each += 1) rows.push(`${kind}-${String(each).padStart(2, "0")}`);
    }
    rows.push(id);
    rest = rest.slice(next[0].length);
  }
}

/** Every number that a title begins with, `file: title` of each; `root` is the repository's. */
export function testsByRow(root = "."): ReadonlyMap<string, readonly string[]> {
  const tests = new Map<string, string[]>();
  for (const file of testFiles(root)) {
    for (const title of new Set(testTitles(join(root, file)))) {
      const rows = new Set(rowsOf(title));
      for (const row of rows) tests.set(row, [...(tests.get(row) ?? []), `${file}: ${title}`]);
    }
  }
  return tests;
}

function testFiles(root: string): readonly string[] {
  return rooms
    .flatMap((room) => readdirSync(join(root, room), { recursive: true, encoding: "utf8" }).map((name) => join(room, name)))
    .filter((path) => path.endsWith(".test.ts") && !path.includes("node_modules"))
    .sort();
}
