// The report as JUnit XML.

import { inertLine } from "../../../../src/text/inert-text.ts";
import { sectionUrl } from "../sections.ts";
import { countOf, type Report } from "./report.ts";

/** The whole document, without the last line break. */
export function junitText(report: Report): string {
  const { outcomes, type, kind } = report;
  const total = seconds(outcomes.reduce((sum, { ms }) => sum + ms, 0));
  const cases = outcomes.flatMap(({ check, verdict, why, ms }) => {
    const name = attribute(`${check.id} ${check.title}`);
    const open = `    <testcase classname="${attribute(`cni.${kind}.${type}`)}" name="${name}" time="${seconds(ms)}"`;
    if (verdict === "passed") return [`${open}/>`];
    const message = attribute(inertLine(why, 1000));
    const inner =
      verdict === "skipped"
        ? `<skipped message="${message}"/>`
        : `<failure message="${message}">${attribute(sectionUrl(check.section))}</failure>`;
    return [`${open}>`, `      ${inner}`, "    </testcase>"];
  });
  const counts = `tests="${outcomes.length}" failures="${countOf(report, "failed")}" errors="0" skipped="${countOf(report, "skipped")}" time="${total}"`;
  return [
    `<?xml version="1.0" encoding="UTF-8"?>`,
    `<testsuites ${counts}>`,
    `  <testsuite name="${attribute(`CNI conformance of ${type}`)}" ${counts}>`,
    ...cases,
    "  </testsuite>",
    "</testsuites>",
  ].join("\n");
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}

function attribute(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
