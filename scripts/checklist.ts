// `npm run checklist`: prints the rows of the conformance checklist with their tests. `-- --json FILE` also writes [{id, held, tests, reason}].

import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { checklist, coreFigure, type HeldRow } from "./checklist/checklist.ts";
import { coreGoal } from "./checklist/rows.ts";

function rowText({ id, core, asks, tests, open }: HeldRow): string {
  const mark = tests.length > 0 ? "held" : "OPEN";
  const why = tests.length > 0 ? tests : [open === undefined ? "no reason is given" : `${open.reason} (${open.issue})`];
  return [`${mark} ${id.padEnd(6)}${core ? "*" : " "} ${asks}`, ...why.map((each) => `              ${each}`)].join("\n");
}

const { values } = parseArgs({ options: { json: { type: "string" } } });
const rows = checklist();
console.log(rows.map(rowText).join("\n"));
const held = rows.filter((each) => each.tests.length > 0).length;
const core = coreFigure(rows);
console.log(`\n${held} of ${rows.length} rows have a test.`);
console.log(`Core rows (*): ${core.held} of ${core.all} have a test, ${core.percent} %; the goal is ${coreGoal} %.`);
if (values.json !== undefined) {
  const table = rows.map(({ id, tests, open }) => ({ id, held: tests.length > 0, tests, reason: open?.reason ?? null }));
  writeFileSync(values.json, `${JSON.stringify(table, undefined, 2)}\n`);
}
