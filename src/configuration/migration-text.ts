// A migration from Multus as a file of Helm values: YAML with a comment for each key that has no counterpart.

import { inertLine } from "../text/inert-text.ts";
import type { MultusMigration } from "./multus-migration.ts";

/** Maximum length of a comment, in UTF-16 units. */
const maxLine = 400;

/** The text before the YAML of `values`. */
export function migrationComments({ without }: Pick<MultusMigration, "without">): string {
  const head = "# Values of Plexus' chart that mean the same as Multus' configuration, made by plexusctl migrate.\n";
  if (without.length === 0) return head;
  const lines = without.map(({ key, source, reason }) => `# - ${inertLine(`${key} (${source}): ${reason}.`, maxLine)}\n`);
  return `${head}# Keys of Multus without a counterpart:\n${lines.join("")}`;
}
