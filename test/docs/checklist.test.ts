import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { checklist, coreFigure, rowsOf, testsByRow } from "../../scripts/checklist/checklist.ts";
import { openRows } from "../../scripts/checklist/open-rows.ts";
import { coreGoal, sections } from "../../scripts/checklist/rows.ts";
import { testTitles } from "../../scripts/checklist/test-titles.ts";

const ids = sections.flatMap(({ rows }) => rows.map(({ id }) => id));

describe("the checklist", () => {
  test("has each row once, with its requirement as a sentence", () => {
    expect(new Set(ids).size).toBe(ids.length);
    for (const { asks } of sections.flatMap(({ rows }) => rows)) expect(asks).toMatch(/^[A-Za-z_].*\.$/);
  });

  test("lists no row as open that a test holds or that does not exist", () => {
    const held = checklist().filter(({ id, tests }) => tests.length > 0 && openRows[id] !== undefined);
    expect(held.map(({ id }) => id)).toEqual([]);
    expect(Object.keys(openRows).filter((id) => !ids.includes(id))).toEqual([]);
  });

  test("has a reason and the text of an issue for every row that no test holds", () => {
    const open = checklist().filter(({ tests }) => tests.length === 0);
    expect(open.filter(({ id }) => openRows[id] === undefined).map(({ id }) => id)).toEqual([]);
    for (const { reason, issue } of Object.values(openRows))
      for (const each of [reason, issue]) expect(each).toMatch(/^[A-Z].*\.$/);
  });

  test("has tests for the required percentage of core rows", () => {
    expect(coreFigure(checklist()).percent).toBeGreaterThanOrEqual(coreGoal);
  });

  test("has every row whose ID begins a test title", () => {
    const prefixes = new Set(ids.map((id) => id.replace(/\d\d$/, "")));
    const unknown = [...testsByRow().keys()].filter((id) => prefixes.has(id.replace(/\d\d$/, "")) && !ids.includes(id));
    expect(unknown).toEqual([]);
  });
});

// Only row IDs at the beginning of a title count.
test.each([
  ["N1-31 N1-35 refuses", ["N1-31", "N1-35"]],
  ["L-31, A-05: with", ["L-31", "A-05"]],
  ["L-51 to L-54: what", ["L-51", "L-52", "L-53", "L-54"]],
  ["N11-05 and MO-14 fail", ["N11-05", "MO-14"]],
  ["DE-VLAN-01 to DE-VLAN-03: has", ["DE-VLAN-01", "DE-VLAN-02", "DE-VLAN-03"]],
  ["A-06", ["A-06"]],
  ["DEL of a link (RT-03)", []],
  ["L-1: nothing", []],
  ["E-4: records", ["E-4"]],
  ["L-64, E-17: gets", ["L-64", "E-17"]],
  ["E-3, E-18 and X-1: a run", ["E-3", "E-18", "X-1"]],
  ["KE-4: nothing", []],
  ["N1-311: nothing", []],
])("%j names the rows %j", (title, rows) => {
  expect(rowsOf(title)).toEqual(rows);
});

test("testTitles finds titles of every test form, and no other strings", () => {
  const directory = mkdtempSync(join(tmpdir(), "plexus-titles-"));
  try {
    writeFileSync(
      join(directory, "table.ts"),
      'export const table: readonly { title: string }[] = [{ title: "A-03: imported" }, ...["x"].map((each) => ({ title: `A-04: ${each}` }))];\n',
    );
    const file = join(directory, "some.test.ts");
    writeFileSync(
      file,
      `import { table } from "./table.ts";
       const asks = [["A-05", 1], ["A-06", 2]] as const;
       describe("N1-01: a group", () => {
         it("A-01: plain", () => { expect("A-00: a text").toBe("A-00"); });
         test.skipIf(missing("A-00"))(\`A-02: \${1} template\`, () => {});
         test.each(table)("$title", () => {});
         test.each(asks.slice(1))("%s: %j", () => {});
         test.each([1])("A-07: %i", () => {});
         test.skip("A-00: switched off", () => {});
         describe("A-00: an empty group", () => {});
         it.todo("A-00: not written");
       });`,
    );
    const titles = ["A-01: plain", "A-02: ", "A-03: imported", "A-04: ", "A-05", "A-06", "A-07: %i"];
    expect(testTitles(file)).toEqual(titles.flatMap((each) => [each, `N1-01: a group > ${each}`]));
  } finally {
    rmSync(directory, { recursive: true });
  }
});
