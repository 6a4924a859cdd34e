// The outcomes of a run, and their counts.

import type { Outcome, SubjectKind } from "../check.ts";

/** A run of the kit on one plugin. */
export interface Report {
  /** The file on the command line. */
  readonly file: string;
  readonly type: string;
  readonly kind: SubjectKind;
  readonly outcomes: readonly Outcome[];
}

/** The number of outcomes with a verdict. */
export function countOf({ outcomes }: Report, verdict: Outcome["verdict"]): number {
  return outcomes.filter((outcome) => outcome.verdict === verdict).length;
}

/** One line for the end of a report. */
export function summaryOf(report: Report): string {
  const [passed, failed, skipped] = (["passed", "failed", "skipped"] as const).map((verdict) => countOf(report, verdict));
  return `${report.outcomes.length} checks of ${report.type} (${report.kind}): ${passed} passed, ${failed} failed, ${skipped} skipped`;
}
