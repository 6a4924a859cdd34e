// Finds the tests that hold each row of the checklist. A test holds a row if its title, or the title of a surrounding group, begins with the row's
// number, alone or in a list ("N1-31 N1-35 …", "L-31, A-05: …", "L-51 to L-57: …").

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type Open, openRows } from "./open-rows.ts";
import { type Row, type Section, sections } from "./rows.ts";
import { testTitles } from "./test-titles.ts";

export interface HeldRow extends Row {
  /** `file: title` of every test that holds the row. */
  readonly tests: readonly string[];
  /** The reason why no test holds the row; undefined for a held row, and for a row without an explanation. */
  readonly open: Open | undefined;
}

/** The directories of tests, as in vitest.config.ts. */
const testDirectories = ["wit", "src", "host", "features", "delegates", "test", "scripts", "bench"];

/** All rows in the order of their sections, each with its tests. */
export function checklist(tests = testsByRow()): readonly HeldRow[] {
  return heldRows(sections, openRows, tests);
}

/** The rows of sections, each with its tests or the reason why there is none. */
export function heldRows(
  from: readonly Section[],
  open: Readonly<Record<string, Open>>,
  tests: ReadonlyMap<string, readonly string[]>,
): readonly HeldRow[] {
  return from.flatMap(({ rows }) => rows.map((row) => ({ ...row, tests: tests.get(row.id) ?? [], open: open[row.id] })));
}

/** The number and the percentage of held core rows. */
export function coreFigure(rows: readonly HeldRow[]): { readonly held: number; readonly all: number; readonly percent: number } {
  const core = rows.filter((each) => each.core);
  const held = core.filter((each) => each.tests.length > 0).length;
  return { held, all: core.length, percent: Math.floor((held / core.length) * 1000) / 10 };
}

/** The row numbers at the beginning of a title: two digits ("DE-VLAN-01"), or one in a row of the expectations on the sandbox ("E-4: …"). */
export function rowsOf(title: string): readonly string[] {
  const rows: string[] = [];
  let rest = title;
  for (;;) {
    const next =
      /^(?<joint>, | and | to | )?(?<id>(?<kind>[A-Z]+\d*(?:-[A-Z]+)*)-(?<number>\d\d|(?<=(?<![A-Z])[EX]-)\d))(?![\w-])/.exec(
        rest,
      );
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

/** `file: title` of each test by row number. `root` is the repository's directory. */
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
  return (
    testDirectories
      .flatMap((directory) =>
        readdirSync(join(root, directory), { recursive: true, encoding: "utf8" }).map((name) => join(directory, name)),
      )
      // The titles in the test of this module are examples.
      .filter(
        (path) => path.endsWith(".test.ts") && !path.includes("node_modules") && !path.endsWith("/checklist/checklist.test.ts"),
      )
      .sort()
  );
}
