// Generates docs/reference/lint.md from the rules (`npm run docs`). A test checks that the page is current.

import { writeFileSync } from "node:fs";
import { lintRules } from "../src/lint/rules.ts";

/** The page's path from the repository's root. */
export const lintPagePath = "docs/reference/lint.md";

/** The page's text. */
export function lintPage(): string {
  const rows = Object.entries(lintRules).map(
    ([id, { severity, finds, remedy }]) => `| \`${id}\` | ${severity} | ${finds} | ${remedy} |`,
  );
  return `# Rules of lint

For: administrators and CI. \`plexusctl lint FILE…\` finds these mistakes in network configurations, in manifests with NetworkAttachmentDefinitions and in Plexus'
own configuration; \`plexusctl lint --node\` looks at all configurations of the node, and \`--kubeconfig\` at the definitions of a cluster.

Each finding has file, line and column, which count from 1. \`-o json\` has all fields, \`-o name\` one line for each finding, and \`--sarif\` SARIF 2.1.0. The exit
status is 1 if there is an error, with \`--strict\` also for a warning. An ID never changes its meaning.

| rule | severity | finds | remedy |
|---|---|---|---|
${rows.join("\n")}
`;
}

if (import.meta.main) writeFileSync(lintPagePath, lintPage());
