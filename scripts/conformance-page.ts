// docs/reference/conformance.md, made from the checklist and the titles of the tests: `npm run docs` writes it, a test
// holds it to both.

import { writeFileSync } from "node:fs";
import { implementedVersions } from "../src/npwg/profile.ts";
import { checklist, coreFigure, type HeldRow } from "../test/conformance/checklist/checklist.ts";
import { coreGoal, sections } from "../test/conformance/checklist/rows.ts";

/** The page's path from the repository's root. */
export const conformancePagePath = "docs/reference/conformance.md";

/** The whole page as Markdown. */
export function conformancePage(): string {
  const rows = new Map(checklist().map((each) => [each.id, each]));
  const tables = sections.map(({ title, rows: own }) => {
    const lines = own.flatMap(({ id }) => {
      const row = rows.get(id);
      return row === undefined ? [] : [tableLine(row)];
    });
    return `## ${title}\n\n| row | what is asked | held by |\n|---|---|---|\n${lines.join("\n")}\n`;
  });
  const all = [...rows.values()];
  const core = coreFigure(all);
  return `# Conformance

What Plexus is held to, row by row: the Network Plumbing Working Group's specification, versions ${implementedVersions.join(", ")}, the
Device Information Specification, what Multus' users rely on, how container runtimes behave, and the rules of CNI. A row is held if a test's
name begins with its number; the third column has the files of these tests, or why there is none.
\`npm run checklist\` prints the tests, \`npm run checklist -- --json FILE\` writes them down.

${all.filter((each) => each.tests.length > 0).length} of ${all.length} rows are held. Of the ${core.all} that a node needs before Plexus may replace Multus on it (marked *),
${core.held} are held: ${core.percent} %; ${coreGoal} % are asked for.

${tables.join("\n")}`;
}

function tableLine({ id, core, asks, tests, open }: HeldRow): string {
  return `| ${id}${core ? " *" : ""} | ${asks} | ${tests.length > 0 ? filesOf(tests) : `open: ${open?.reason ?? "not explained"}`} |`;
}

function filesOf(tests: readonly string[]): string {
  const files = new Set(tests.map((each) => each.slice(0, each.indexOf(": "))));
  return [...files].map((file) => `[${file.slice(file.lastIndexOf("/") + 1)}](../../${file})`).join(", ");
}

if (import.meta.main) writeFileSync(conformancePagePath, conformancePage());
