// A report of checks as JUnit XML, which continuous integration reads.

import { inertLine } from "../text/inert-text.ts";

/** One check and its outcome. */
export interface JUnitCase {
  readonly name: string;
  readonly verdict: "passed" | "failed" | "skipped";
  /** The reason of a failure or a skip. */
  readonly why: string;
  /** Where the rule of a failed check stands. */
  readonly reference: string;
  /** Milliseconds. */
  readonly ms: number;
}

/** The checks of one subject. */
export interface JUnitSuite {
  readonly name: string;
  /** The class name of all cases: continuous integration groups by it. */
  readonly group: string;
  readonly cases: readonly JUnitCase[];
}

/** The whole document, without the last line break. */
export function junitText({ name, group, cases }: JUnitSuite): string {
  const total = seconds(cases.reduce((sum, { ms }) => sum + ms, 0));
  const lines = cases.flatMap((each) => {
    const open = `    <testcase classname="${escaped(group)}" name="${escaped(each.name)}" time="${seconds(each.ms)}"`;
    if (each.verdict === "passed") return [`${open}/>`];
    const message = escaped(inertLine(each.why, 1000));
    const inner =
      each.verdict === "skipped"
        ? `<skipped message="${message}"/>`
        : `<failure message="${message}">${escaped(each.reference)}</failure>`;
    return [`${open}>`, `      ${inner}`, "    </testcase>"];
  });
  const count = (verdict: JUnitCase["verdict"]): number => cases.filter((each) => each.verdict === verdict).length;
  const counts = `tests="${cases.length}" failures="${count("failed")}" errors="0" skipped="${count("skipped")}" time="${total}"`;
  return [
    `<?xml version="1.0" encoding="UTF-8"?>`,
    `<testsuites ${counts}>`,
    `  <testsuite name="${escaped(name)}" ${counts}>`,
    ...lines,
    "  </testsuite>",
    "</testsuites>",
  ].join("\n");
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
