// The findings about the steps of a network, from its explanation.

import type { JsonPath } from "../../../src/json/position.ts";
import { ruleOfFault } from "../../../src/lint/fault-rule.ts";
import { finding, type LintFinding, type LintNetwork, offsetIn, offsetInNetwork } from "../../../src/lint/finding.ts";
import type { LintRuleId } from "../../../src/lint/rules.ts";
import type { ExplainedNetwork, ExplainedStep } from "../explain/explanation.ts";

/** The findings about one network and its steps. */
export function stepFindings(network: LintNetwork, { problem, steps }: ExplainedNetwork): readonly LintFinding[] {
  const { source, object } = network;
  const offset = offsetInNetwork(network, ["cniVersion"]);
  const own = problem === null ? [] : [finding(ruleOfFault(problem.kind), { source, object, offset, message: problem.msg })];
  return [...own, ...steps.flatMap((step, index) => findingsOf(network, index, step, ["type"]))];
}

function findingsOf(network: LintNetwork, plugin: number, step: ExplainedStep, member: JsonPath): readonly LintFinding[] {
  const { source, object } = network;
  const found = (rule: LintRuleId, message: string, path: JsonPath = member, remedy?: string): LintFinding => {
    const offset = offsetIn(network, plugin, path);
    return finding(rule, { source, object, offset, message, ...(remedy === undefined ? {} : { remedy }) });
  };
  const { type, problem, uncovered, idle, warnings, rule, steps } = step;
  return [
    ...(problem === null ? [] : [found(ruleOfFault(problem.kind), `${type}: ${problem.msg}`)]),

    ...uncovered.map((text) => found("uncovered-value", `${type}: ${text}`, memberOf(text))),
    ...idle.map((name) => found("unused-grant", `${type}: ${name} is granted, but the component does not declare it`)),
    ...warnings.map((text) => found("other-name", text)),
    ...(rule === null || rule.note === null ? [] : [found("policy-without-effect", `${type}: ${rule.note}`)]),
    ...steps.flatMap((each) => findingsOf(network, plugin, each, ["ipam", "type"])),
  ];
}

/** The key with which the text about an uncovered value begins, as in "ipam.type x: …". */
function memberOf(text: string): JsonPath {
  return (text.split(/[ :]/)[0] ?? "").split(".");
}
