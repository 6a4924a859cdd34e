// Generates docs/reference/conformance.md from the checklist and the tests' titles (`npm run docs`). A test checks that the page is current.

import { writeFileSync } from "node:fs";
import { implementedVersions } from "../src/npwg/profile.ts";
import { checklist, coreFigure, type HeldRow } from "./checklist/checklist.ts";
import { coreGoal, sections } from "./checklist/rows.ts";

/** The page's path from the repository's root. */
export const conformancePagePath = "docs/reference/conformance.md";

/** The page's text. */
export function conformancePage(): string {
  const rows = new Map(checklist().map((each) => [each.id, each]));
  const tables = sections.map(({ title, rows: sectionRows }) => {
    const lines = sectionRows.flatMap(({ id }) => {
      const row = rows.get(id);
      return row === undefined ? [] : [tableLine(row)];
    });
    return `## ${title}\n\n| row | requirement | tests |\n|---|---|---|\n${lines.join("\n")}\n`;
  });
  const all = [...rows.values()];
  const core = coreFigure(all);
  return `# Conformance

The requirements on Plexus, row by row: the Network Plumbing Working Group's specification, versions ${implementedVersions.join(", ")}, the
Device Information Specification, features that Multus' users need, the behaviour of container runtimes, and the CNI specification. A test belongs to a row if
the test's name begins with the row's number. The third column has the files of these tests, or the reason why there is none.
\`npm run checklist\` prints the tests, \`npm run checklist -- --json FILE\` writes them to a file.

${all.filter((each) => each.tests.length > 0).length} of ${all.length} rows have a test. Rows with * must work before Plexus may replace Multus on a node.
${core.held} of these ${core.all} rows have a test: ${core.percent} %; the goal is ${coreGoal} %.

${tables.join("\n")}`;
}

/** The row of a table. */
export function tableLine({ id, core, asks, tests, open }: HeldRow): string {
  return `| ${id}${core ? " *" : ""} | ${asks} | ${tests.length > 0 ? filesOf(tests) : `open: ${open?.reason ?? "not explained"}`} |`;
}

function filesOf(tests: readonly string[]): string {
  const files = new Set(tests.map((each) => each.slice(0, each.indexOf(": "))));
  return [...files].map((file) => `[${file.slice(file.lastIndexOf("/") + 1)}](../../${file})`).join(", ");
}

if (import.meta.main) writeFileSync(conformancePagePath, conformancePage());
