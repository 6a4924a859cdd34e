// Generates docs/reference/errors.md from the catalogue (`npm run docs`). A test checks that the page is current.

import { writeFileSync } from "node:fs";
import { catalogue } from "../src/fault/catalogue.ts";

/** The page's path from the repository's root. */
export const errorsPagePath = "docs/reference/errors.md";

/** The page's text. */
export function errorsPage(): string {
  const rows = Object.entries(catalogue)
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([kind, entry]) => `| \`${kind}\` | ${entry.cni} | ${entry.actor} | ${entry.meaning} | ${entry.remedy} |`);
  return `# Errors

Every failed call prints CNI's error object on stdout, with exit status 1. \`code\` is the number below, or the code of the plugin or
delegate that failed. \`msg\` says what failed, where and why. \`details\` ends with the remedy and
the kind in brackets: search this page for the kind.

"Actor" can correct the error: the administrator who wrote the configuration, the runtime that made the call,
the author of a delegate, or Plexus itself (a defect: please report it). "Nobody" means that a repeated call works.

| kind | CNI code | actor | meaning | remedy |
|---|---|---|---|---|
${rows.join("\n")}
`;
}

if (import.meta.main) writeFileSync(errorsPagePath, errorsPage());
