// The report as a JSON document.

import { sectionUrl } from "../sections.ts";
import { countOf, type Report } from "./report.ts";

/** The whole document, without the last line break. */
export function jsonText(report: Report): string {
  const { file, type, kind, outcomes } = report;
  const document = {
    apiVersion: "plexus/v1",
    kind: "ConformanceReport",
    file,
    type,
    subject: kind,
    passed: countOf(report, "passed"),
    failed: countOf(report, "failed"),
    skipped: countOf(report, "skipped"),
    checks: outcomes.map(({ check, verdict, why, ms }) => ({
      id: check.id,
      title: check.title,
      section: sectionUrl(check.section),
      verdict,
      ...(why === "" ? {} : { why }),
      ms: Math.round(ms),
    })),
  };
  return JSON.stringify(document, undefined, 2);
}
