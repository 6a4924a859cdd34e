// The lines of a finding for a terminal: plexusctl lint, doctor and migrate --check print the same form.

import type { Finding } from "../../../src/lint/finding.ts";
import { inertLine } from "../../../src/text/inert-text.ts";
import { wrap } from "../../node/command-line/table.ts";

/** Maximum length of a line, in UTF-16 units. */
const maxLine = 1024;
/** Minimum columns of a wrapped remedy. */
const minColumns = 40;

/** `AT: SEVERITY: MESSAGE` in one line, as editors read it, and the remedy below. `at`: the place or the name of what was checked. */
export function findingLines({ severity, message, remedy }: Finding, at: string, width: number): readonly string[] {
  return [inertLine(`${at}: ${severity}: ${message}`, maxLine), ...remedyLines(remedy, width)];
}

/** The remedy, indented and wrapped; no line without a remedy. */
export function remedyLines(remedy: string, width: number): readonly string[] {
  if (remedy === "") return [];
  return wrap(inertLine(`To do: ${remedy}`, maxLine), Math.max(minColumns, width - 2)).map((line) => `  ${line}`);
}
