// `npm run checklist`: which rows are held by which tests. `-- --json FILE` writes [{id, held, tests, reason}] besides.

import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { checklist, coreFigure, type HeldRow } from "../test/conformance/checklist/checklist.ts";
import { coreGoal } from "../test/conformance/checklist/rows.ts";

function shown({ id, core, asks, tests, open }: HeldRow): string {
  const mark = tests.length > 0 ? "held" : "OPEN";
  const why = tests.length > 0 ? tests : [open === undefined ? "nobody has said why" : `${open.reason} (${open.issue})`];
  return [`${mark} ${id.padEnd(6)}${core ? "*" : " "} ${asks}`, ...why.map((each) => `              ${each}`)].join("\n");
}

const { values } = parseArgs({ options: { json: { type: "string" } } });
const rows = checklist();
console.log(rows.map(shown).join("\n"));
const held = rows.filter((each) => each.tests.length > 0).length;
const core = coreFigure(rows);
console.log(`\n${held} of ${rows.length} rows are held by a test.`);
console.log(`Core rows (*): ${core.held} of ${core.all} held, ${core.percent} %; ${coreGoal} % are asked for.`);
if (values.json !== undefined) {
  const table = rows.map(({ id, tests, open }) => ({ id, held: tests.length > 0, tests, reason: open?.reason ?? null }));
  writeFileSync(values.json, `${JSON.stringify(table, undefined, 2)}\n`);
}
