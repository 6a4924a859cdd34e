// The report for a reader: a line for each check, with the reason and the specification's section of a failure.

import { inertLine } from "../../../../src/text/inert-text.ts";
import type { Outcome } from "../check.ts";
import { sections, sectionUrl } from "../sections.ts";

const colours = { passed: 32, failed: 31, skipped: 33 } as const;

/** The lines of one outcome. */
export function humanLines({ check, verdict, why }: Outcome, colour: boolean): readonly string[] {
  const word = verdict === "failed" ? "FAILED" : verdict;
  const shown = colour ? `\u001b[${colours[verdict]}m${word.padEnd(7)}\u001b[39m` : word.padEnd(7);
  const line = `${shown}  ${check.id.padEnd(6)}  ${check.title}`;
  if (verdict === "passed") return [line];
  const reason = `                 ${inertLine(why, 1000)}`;
  if (verdict === "skipped") return [line, reason];
  return [line, reason, `                 ${sections[check.section].title}: ${sectionUrl(check.section)}`];
}
