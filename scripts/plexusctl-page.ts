// Generates docs/reference/plexusctl.md from the table of commands (`npm run docs`). A test checks that the page is current.

import { writeFileSync } from "node:fs";
import { allCommands, plexusctlWith } from "../host/programs/plexusctl/commands/all-commands.ts";
import { referenceSections } from "../src/command-line/reference-page.ts";

const commands = await allCommands();

/** The page's path from the repository's root. */
export const plexusctlPagePath = "docs/reference/plexusctl.md";

/** The page's text. */
export function plexusctlPage(): string {
  return `# plexusctl

For: administrators and scripts. \`plexusctl COMMAND --help\` prints the same; [See what happens](../how-to/see-what-happens.md) shows the commands at work.

Data goes to stdout, and each error is one line of stderr. \`-o json\` and \`-o yaml\` print one document, \`-o name\` prints one name a line. Colours appear
in a terminal only, and not with \`NO_COLOR=1\`, \`TERM=dumb\` or \`--no-color\`. A mistyped command or option ends with status 2 and the nearest names.

${referenceSections(plexusctlWith(commands))}`;
}

if (import.meta.main) writeFileSync(plexusctlPagePath, plexusctlPage());
