// Writes the table of times into docs/how-to/external-ports.md, from docs/reference/external-port-times.json, whose figures
// test/cluster/external-port-times.test.ts measures by choice. A test checks that the table is current.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";

const root = fileURLToPath(new URL("..", import.meta.url));
/** Paths from the repository's root. */
export const timesPath = "docs/reference/external-port-times.json";
export const timesPagePath = "docs/how-to/external-ports.md";

/** Rows of the table, by the keys of the file. */
const labels: Readonly<Record<string, string>> = {
  askedToReady: "from the pod's creation until its port is Ready, without a pool",
  askedToReadyFromPool: "from the pod's creation until its port is Ready, with a pool",
  readyToPlugged: "from Ready until the pod is plugged",
  pluggedToActive: "from plugged until Neutron says ACTIVE",
};

const times = z.strictObject({
  day: z.iso.date(),
  machine: z.string(),
  /** Pods of each row. */
  pods: z.int().min(1),
  rows: z.record(z.string(), z.strictObject({ medianMs: z.number(), maxMs: z.number() })),
});

/** The measured times. */
export type Times = z.infer<typeof times>;

/** The file's content. */
export function readTimes(): Times {
  return times.parse(JSON.parse(readFileSync(join(root, timesPath), "utf8")));
}

/** The page with the present figures between its two marks. */
export function withTimes(page: string, { day, machine, pods, rows }: Times): string {
  const [before, rest] = page.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) throw new Error(`${timesPagePath} has no ${begin} and ${end}`);
  const lines = Object.entries(labels).flatMap(([key, label]) => {
    const row = rows[key];
    return row === undefined ? [] : [`| ${label} | ${Math.round(row.medianMs)} ms | ${Math.round(row.maxMs)} ms |\n`];
  });
  const table = `| time | median | maximum |\n|---|---|---|\n${lines.join("")}`;
  const source = `${pods} pods one after the other, with a real Neutron and OVN; ${machine}; ${day}.`;
  return `${before}${begin}\n\n${table}\n${source}\n\n${end}${after}`;
}

const begin = "<!-- times: scripts/external-port-times.ts -->";
const end = "<!-- /times -->";

if (import.meta.main) {
  const file = join(root, timesPagePath);
  writeFileSync(file, withTimes(readFileSync(file, "utf8"), readTimes()));
}
