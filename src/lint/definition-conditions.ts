// The findings about a NetworkAttachmentDefinition as conditions in an annotation: the kind has no status. Nothing is written about a definition
// without findings.

import { isJsonObject } from "../json/document.ts";
import { redactText } from "../redact/redact.ts";
import type { LintFinding } from "./finding.ts";
import type { LintRuleId, Severity } from "./rules.ts";

/** The annotation's key. */
export const conditionsAnnotation = "plexus.dev/conditions";

/** A condition that does not hold, in the form of Kubernetes' conditions without times. */
export interface DefinitionCondition {
  /** `Valid`: calls can use the definition. `Distinct`: its name, addresses and bridges are no other network's. */
  readonly type: "Valid" | "Distinct";
  readonly status: "False";
  /** The first finding's rule in upper camel case. */
  readonly reason: string;
  readonly message: string;
}

/** Maximum number of findings in a message; the rest is counted. */
export const maxFindings = 5;
/** Maximum characters of a finding in a message, which quotes foreign text. */
const maxFindingLength = 400;

/** The number of findings that are not kept, by severity. */
export type OmittedFindings = Readonly<Partial<Record<Severity, number>>>;

/** The conditions that do not hold. Notes are no condition. */
export function conditionsOf(findings: readonly LintFinding[], omitted: OmittedFindings = {}): readonly DefinitionCondition[] {
  return (
    [
      ["Valid", "error"],
      ["Distinct", "warning"],
    ] as const
  ).flatMap(([type, severity]) => {
    const own = findings.filter((each) => each.severity === severity);
    const [first] = own;
    if (first === undefined) return [];
    const texts = own.slice(0, maxFindings).map(({ message, remedy }) => `${shortened(redactText(message))}. ${remedy}`);
    const count = own.length + (omitted[severity] ?? 0);
    const more = count > maxFindings ? [`And ${count - maxFindings} more.`] : [];
    return [{ type, status: "False" as const, reason: reasonOf(first.rule), message: [...texts, ...more].join(" ") }];
  });
}

/** The annotation's text; undefined if every condition holds. */
export function conditionsText(findings: readonly LintFinding[], omitted?: OmittedFindings): string | undefined {
  const conditions = conditionsOf(findings, omitted);
  return conditions.length === 0 ? undefined : JSON.stringify(conditions);
}

/** An Event for a change of a definition's conditions. */
export interface ConditionEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: "DefinitionInvalid" | "DefinitionConflict" | "DefinitionValid";
  readonly message: string;
}

/** The Events for the change from one annotation to the next. `before` may be anybody's text. */
export function conditionEvents(before: string | undefined, after: string | undefined): readonly ConditionEvent[] {
  const earlier = readConditions(before);
  const conditions = readConditions(after);
  if (conditions.length === 0) {
    const message = "the definition has no problem any more";
    return before === undefined ? [] : [{ type: "Normal", reason: "DefinitionValid", message }];
  }
  return conditions
    .filter(({ type, message }) => !earlier.some((each) => each.type === type && each.message === message))
    .map(({ type, message }) => ({
      type: "Warning",
      reason: type === "Valid" ? "DefinitionInvalid" : "DefinitionConflict",
      message,
    }));
}

function readConditions(text: string | undefined): readonly { readonly type: unknown; readonly message: string }[] {
  if (text === undefined) return [];
  try {
    const value: unknown = JSON.parse(text);
    return (Array.isArray(value) ? value : []).flatMap((each) =>
      isJsonObject(each) ? [{ type: each["type"], message: String(each["message"]) }] : [],
    );
  } catch {
    return [];
  }
}

function reasonOf(rule: LintRuleId): string {
  return rule.replaceAll(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function shortened(text: string): string {
  return text.length <= maxFindingLength ? text : `${text.slice(0, maxFindingLength - 1)}…`;
}
