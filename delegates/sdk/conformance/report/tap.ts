// The report in the Test Anything Protocol, version 14.

import { inertLine } from "../../../../src/text/inert-text.ts";
import { sectionUrl } from "../sections.ts";
import type { Report } from "./report.ts";

/** The whole document, without the last line break. */
export function tapText({ outcomes }: Report): string {
  const lines = outcomes.flatMap(({ check, verdict, why }, index) => {
    const line = `${verdict === "failed" ? "not ok" : "ok"} ${index + 1} - ${escaped(`${check.id} ${check.title}`)}`;
    if (verdict === "skipped") return [`${line} # SKIP ${escaped(inertLine(why, 1000))}`];
    if (verdict === "passed") return [line];
    const members = { message: inertLine(why, 1000), section: sectionUrl(check.section) };
    // JSON texts are YAML texts, too.
    return [line, "  ---", ...Object.entries(members).map(([key, value]) => `  ${key}: ${JSON.stringify(value)}`), "  ..."];
  });
  return ["TAP version 14", `1..${outcomes.length}`, ...lines].join("\n");
}

function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("#", "\\#");
}
