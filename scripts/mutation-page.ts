// Generates docs/reference/mutation.md from the counts of `npm run mutation` (`npm run docs`). A test checks that the page is current.

import { readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** Paths from the repository's root. */
export const mutationPath = "docs/reference/mutation.json";
export const mutationPagePath = "docs/reference/mutation.md";

/** The mutants of one file or folder. */
export interface Counts {
  /** All mutants that were tested. */
  readonly mutants: number;
  /** Mutants for which a test failed. */
  readonly killed: number;
  /** Mutants for which a test exceeded its time limit. */
  readonly timeout: number;
  /** Mutants for which all tests passed. */
  readonly survived: number;
  /** Mutants in code that no test runs. */
  readonly uncovered: number;
}

/** Counts by file. */
export type MutationCounts = Readonly<Record<string, Counts>>;

/** The used part of Stryker's report (mutation-testing-report-schema). */
interface Report {
  readonly files: Readonly<Record<string, { readonly mutants: readonly { readonly status: string }[] }>>;
}

/** The counts of a report. */
export function mutationCounts({ files }: Report): MutationCounts {
  const counted = Object.entries(files).map(([path, { mutants }]): [string, Counts] => {
    const count = (...wanted: readonly string[]): number => mutants.filter(({ status }) => wanted.includes(status)).length;
    // Mutants that cannot be loaded do not count.
    const killed = count("Killed");
    const [timeout, survived, uncovered] = [count("Timeout"), count("Survived"), count("NoCoverage")];
    return [path, { mutants: killed + timeout + survived + uncovered, killed, timeout, survived, uncovered }];
  });
  return sorted(Object.fromEntries(counted.filter(([, { mutants }]) => mutants > 0)));
}

/** The counts, sorted by path. */
export function sorted(counts: MutationCounts): MutationCounts {
  return Object.fromEntries(Object.entries(counts).toSorted(([left], [right]) => (left < right ? -1 : 1)));
}

/** The share of mutants that a test detected, in percent with one decimal. */
export function scoreOf({ mutants, killed, timeout }: Counts): string {
  return mutants === 0 ? "–" : ((100 * (killed + timeout)) / mutants).toFixed(1);
}

/** The sums of each folder. */
export function foldersOf(counts: MutationCounts): readonly { readonly folder: string; readonly counts: Counts }[] {
  const folders = [...new Set(Object.keys(counts).map((path) => dirname(path)))];
  return folders.map((folder) => ({
    folder,
    counts: sumOf(Object.entries(counts).flatMap(([path, each]) => (dirname(path) === folder ? [each] : []))),
  }));
}

function sumOf(all: readonly Counts[]): Counts {
  const sum = { mutants: 0, killed: 0, timeout: 0, survived: 0, uncovered: 0 };
  for (const each of all) {
    sum.mutants += each.mutants;
    sum.killed += each.killed;
    sum.timeout += each.timeout;
    sum.survived += each.survived;
    sum.uncovered += each.uncovered;
  }
  return sum;
}

function row(name: string, counts: Counts): string {
  const { mutants, killed, timeout, survived, uncovered } = counts;
  return `| ${name} | ${scoreOf(counts)} | ${mutants} | ${killed} | ${timeout} | ${survived} | ${uncovered} |`;
}

const head = `score, % | mutants | killed | timed out | survived | not covered |
|---|---|---|---|---|---|---|`;

/** The page's text. */
export function mutationPage(counts: MutationCounts): string {
  const folders = foldersOf(counts);
  const all = row("all", sumOf(Object.values(counts)));
  return `# Mutation testing

\`npm run mutation\` changes the code in small ways, one at a time: it negates a condition, empties a text, removes a block. Each changed
version is a mutant. The unit tests that run the changed line are executed against it. A mutant is killed if a test fails, and
survives if all tests pass: no test detects the change. The score is the share of mutants that were killed or timed out.

Only unit tests run against mutants, because they need no privileges. So the score does not include the end-to-end tests. Error texts are
mutated, too: such a mutant survives if the tests only compare the error's code. Some survivors have no visible effect
(a cache that always misses, a check that another check repeats). Constants of a module are not mutated. A file without a
row has not been measured yet, or has nothing but types and constants. Stryker works in a copy of the tree.
\`dist/mutation/report.html\` shows each survivor in its line.

| folder | ${head}
${[...folders.map(({ folder, counts: sum }) => row(`\`${folder}\``, sum)), all].join("\n")}

## By file

| file | ${head}
${Object.entries(counts)
  .map(([path, each]) => row(`\`${path}\``, each))
  .join("\n")}
`;
}

if (import.meta.main) writeFileSync(mutationPagePath, mutationPage(JSON.parse(readFileSync(mutationPath, "utf8"))));
