// Generates docs/reference/steadiness.md from the recorded runs of `npm run test:steady` (`npm run docs`). A test checks that the page is current.

import { readFileSync, writeFileSync } from "node:fs";

import { steadyAtEnd, type SteadyRun } from "./test-run/steady-runs.ts";

export const steadinessPagePath = "docs/reference/steadiness.md";
const recordPath = "docs/reference/steadiness.json";

/** The page of the committed runs. */
export function steadinessPage(runs: readonly SteadyRun[] = readRuns()): string {
  const rows = runs.map(
    ({ date, commit, minutes, passed, skipped, failures }, index) =>
      `| ${index + 1} | ${date} | \`${commit}\` | ${minutes.toFixed(1)} min | ${passed} | ${skipped} | ${failures.length} |`,
  );
  const failures = runs.flatMap(({ failures: each }, index) =>
    each.map((failure) => `- Run ${index + 1}: ${failure.replaceAll("|", "\\\\|")}`),
  );
  return `# Steadiness

For: engineers who change Plexus. \`npm run test:steady -- --runs N --record ${recordPath}\` runs \`npm test\` beside four busy loops, a loop that writes and
syncs, and two gibibytes of memory that are written again and again. A failure that a repetition did not confirm counts, too. \`npm run docs\` makes this page.

Runs in a row without a failure, up to the last one: ${steadyAtEnd(runs)}.

| run | day | commit | time | passed | skipped | failed |
|---|---|---|---|---|---|---|
${rows.join("\n")}
${failures.length === 0 ? "" : `\n## Failures\n\n${failures.join("\n")}\n`}`;
}

function readRuns(): readonly SteadyRun[] {
  return JSON.parse(readFileSync(recordPath, "utf8")) as SteadyRun[];
}

if (import.meta.main) writeFileSync(steadinessPagePath, steadinessPage());
