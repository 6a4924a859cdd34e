// Findings as SARIF 2.1.0, which code hosts show beside a change.

import type { LintFinding } from "./finding.ts";
import { lintRules } from "./rules.ts";

/** The log of one run. `version`: of Plexus. */
export function sarifLog(findings: readonly LintFinding[], version: string): object {
  const rules = Object.entries(lintRules).map(([id, { finds, remedy, severity }]) => ({
    id,
    shortDescription: { text: finds },
    help: { text: remedy },
    defaultConfiguration: { level: severity },
  }));
  return {
    $schema: "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: { driver: { name: "plexusctl lint", version, rules } },
        columnKind: "utf16CodeUnits",
        results: findings.map(({ rule, severity, file, line, column, message, remedy, object }) => ({
          ruleId: rule,
          ruleIndex: Object.keys(lintRules).indexOf(rule),
          level: severity,
          message: { text: `${object === "" ? "" : `${object}: `}${message}. ${remedy}` },
          locations: [
            { physicalLocation: { artifactLocation: { uri: file }, region: { startLine: line, startColumn: column } } },
          ],
        })),
      },
    ],
  };
}
