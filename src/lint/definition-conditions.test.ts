import { describe, expect, test } from "vitest";
import { conditionEvents, conditionsOf, conditionsText } from "./definition-conditions.ts";
import { finding, type LintFinding } from "./finding.ts";
import type { LintRuleId } from "./rules.ts";

const found = (rule: LintRuleId, message: string): LintFinding =>
  finding(rule, {
    source: { file: "f", text: "", place: () => ({ line: 1, column: 1 }) },
    object: "shop/a",
    offset: 0,
    message,
    remedy: "Mend it.",
  });

describe("conditions of a definition", () => {
  test("errors make it invalid, warnings not distinct, and notes nothing", () => {
    const findings = [
      found("subnet-overlap", "w"),
      found("unknown-plugin", "e"),
      found("missing-grant", "f"),
      found("type-twice", "n"),
    ];
    expect(conditionsOf(findings)).toEqual([
      { type: "Valid", status: "False", reason: "UnknownPlugin", message: "e. Mend it. f. Mend it." },
      { type: "Distinct", status: "False", reason: "SubnetOverlap", message: "w. Mend it." },
    ]);
    expect(conditionsText([found("type-twice", "n")])).toBeUndefined();
    expect(conditionsText([])).toBeUndefined();
  });

  test("are bounded, whatever the definition quotes, and keep no secret", () => {
    const many = Array.from({ length: 50 }, (_, index) => found("unknown-plugin", `${index} ${"x".repeat(5000)}`));
    expect(conditionsText(many)?.length).toBeLessThan(3000);
    expect(conditionsText(many)).toContain("And 45 more.");
    expect(conditionsText([found("unreadable-configuration", 'at "password": "hunter2-hunter2"')])).not.toContain("hunter2");
  });
});

describe("Events of a definition", () => {
  const invalid = conditionsText([found("unknown-plugin", "e")]);
  const both = conditionsText([found("unknown-plugin", "e"), found("name-collision", "c")]);

  test("tell a new problem once, and the end of the last one", () => {
    expect(conditionEvents(undefined, invalid)).toMatchObject([
      { type: "Warning", reason: "DefinitionInvalid", message: "e. Mend it." },
    ]);
    expect(conditionEvents(invalid, both)).toMatchObject([{ reason: "DefinitionConflict", message: "c. Mend it." }]);
    expect(conditionEvents(both, invalid)).toEqual([]);
    expect(conditionEvents(invalid, undefined)).toMatchObject([{ type: "Normal", reason: "DefinitionValid" }]);
  });

  test.each(["{", "null", '[1,{"type":{}}]', "[".repeat(50_000)])("take %j of another writer for no condition", (before) => {
    expect(conditionEvents(before, invalid)).toHaveLength(1);
  });
});
