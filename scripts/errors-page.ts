// docs/reference/errors.md, made from the catalogue: `npm run docs` writes it, a test holds it to the code.

import { writeFileSync } from "node:fs";
import { catalogue } from "../src/fault/catalogue.ts";

/** The page's path from the repository's root. */
export const errorsPagePath = "docs/reference/errors.md";

/** The whole page as Markdown. */
export function errorsPage(): string {
  const rows = Object.entries(catalogue)
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([kind, entry]) => `| \`${kind}\` | ${entry.cni} | ${entry.actor} | ${entry.meaning} | ${entry.remedy} |`);
  return `# Errors

Whatever fails is answered as CNI's error object on stdout, with exit status 1: \`code\` is the number below or, where a plugin
or delegate failed with a code of its own, that one; \`msg\` says what, where and why; \`details\` ends with the remedy and
the kind in brackets, by which this page is searched.

"Who acts" is who can do something about it: the administrator who wrote the configuration, the runtime that made the call,
the author of a delegate, or Plexus itself (a defect: please report it). "Nobody" means that the call is repeated and works.

| kind | CNI code | who acts | meaning | remedy |
|---|---|---|---|---|
${rows.join("\n")}
`;
}

if (import.meta.main) writeFileSync(errorsPagePath, errorsPage());
