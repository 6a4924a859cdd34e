// Generates docs/reference/surroundings.md from the records in test/lab/surroundings/record (`npm run docs`). A test checks that the page is current.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The trials beside one program. */
export interface SurroundingsRecord {
  readonly name: string;
  readonly programs: string;
  readonly module: string;
  readonly version: string;
  /** The day of the tests' last run. */
  readonly date: string;
  /** How the programs ran, or by which of their files they were played. */
  readonly how: string;
  /** The path of the test. */
  readonly test: string;
  readonly tried: readonly string[];
  /** Facts that administrators must know. */
  readonly know: readonly string[];
  /** Situations that the test does not try, each with the reason. */
  readonly notTried: readonly string[];
}

/** The page's path from the repository's root. */
export const surroundingsPagePath = "docs/reference/surroundings.md";

const directory = join(import.meta.dirname, "..", "test", "lab", "surroundings", "record");

/** The records, by name. */
export function surroundingsRecords(): readonly SurroundingsRecord[] {
  const files = readdirSync(directory).filter((name) => name.endsWith(".json"));
  const records = files.map((name): SurroundingsRecord => JSON.parse(readFileSync(join(directory, name), "utf8")));
  return records.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** The page's text. */
export function surroundingsPage(records: readonly SurroundingsRecord[] = surroundingsRecords()): string {
  return `# Plexus beside other programs

Programs that share a node with Plexus, each with what was tried on a node with a real kubelet and containerd, unless the row
\`how\` says otherwise. Tests with real programs run where these were built: \`node test/lab/surroundings/NAME/get.ts\` builds them once from their
Go modules. \`npm run test:cluster -- test/cluster/surroundings\` runs all tests. Plexus' chart has its default values, so the daemon is a user of its own.

${records.map(section).join("\n")}`;
}

function list(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? "" : `\n${title}:\n\n${lines.map((line) => `- ${line}\n`).join("")}`;
}

function section({ name, programs, module, version, date, how, test, tried, know, notTried }: SurroundingsRecord): string {
  const rows = [
    ["programs", programs],
    ["module", `\`${module}\` ${version}`],
    ["how", how],
    ["test", `[${test.slice(test.lastIndexOf("/") + 1)}](../../${test}), ${date}`],
  ].map(([key, value]) => `| ${key} | ${value} |\n`);
  const lists = list("The test tries", tried) + list("Administrators must know", know) + list("The test does not try", notTried);
  return `## ${name}\n\n| | |\n|---|---|\n${rows.join("")}${lists}`;
}

if (import.meta.main) writeFileSync(surroundingsPagePath, surroundingsPage());
