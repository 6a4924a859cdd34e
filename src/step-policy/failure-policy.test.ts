import { describe, expect, test } from "vitest";
import type { Verb } from "../cni/environment.ts";
import { defaultStepRule, type FailurePolicy, type StepRule } from "../configuration/step-rules.ts";
import { fault } from "../fault/fault.ts";
import { type Decision, decide, retryPauseMs, whyNotOpen } from "./failure-policy.ts";

const rule = (failure: FailurePolicy, more: Partial<StepRule> = {}): StepRule => ({ ...defaultStepRule, failure, ...more });
const tryAgain = fault("PLUGIN_FAILED", "busy", { code: 11 });

describe("the decision about a failed step", () => {
  const matrix: readonly (readonly [FailurePolicy, Verb, number, Decision])[] = [
    ["closed", "ADD", 1, "fail"],
    ["closed", "DEL", 1, "fail"],
    ["closed", "CHECK", 1, "fail"],
    ["closed", "STATUS", 1, "fail"],
    ["closed", "GC", 1, "fail"],
    ["open", "ADD", 1, "pass-over"],
    ["open", "DEL", 1, "go-on"],
    ["open", "CHECK", 1, "pass-over"],
    ["open", "STATUS", 1, "pass-over"],
    ["open", "GC", 1, "fail"],
    ["open", "ADD", 0, "fail"],
    ["open", "DEL", 0, "fail"],
    ["open", "CHECK", 0, "fail"],
    ["open", "STATUS", 0, "fail"],
    ["open", "GC", 0, "fail"],
    ["retry", "ADD", 0, "retry"],
    ["retry", "ADD", 1, "retry"],
    ["retry", "DEL", 1, "retry"],
    ["retry", "CHECK", 1, "retry"],
    ["retry", "STATUS", 1, "fail"],
    ["retry", "GC", 1, "fail"],
    ["open", "VERSION", 1, "fail"],
  ];
  test.each(matrix)("E-11: %s in %s of step %d: %s", (failure, verb, index, decision) => {
    expect(decide(rule(failure), { verb, index, fault: tryAgain, tries: 1 })).toBe(decision);
  });

  test("E-11: a step is tried again only as often as the rule says", () => {
    const tries = [1, 2, 3, 4].map((each) => decide(rule("retry"), { verb: "ADD", index: 0, fault: tryAgain, tries: each }));
    expect(tries).toEqual(["retry", "retry", "fail", "fail"]);
  });

  test.each([
    [fault("PLUGIN_FAILED", "busy", { code: 11 }), "retry"],
    [fault("DELEGATE_FAILED", "busy", { code: 11 }), "retry"],
    [fault("PLUGIN_FAILED", "no such device", { code: 105 }), "fail"],
    [fault("PLUGIN_TIMEOUT", "killed"), "fail"],
    [fault("CALL_TIMEOUT", "no time is left"), "fail"],
    [fault("WASM_DISABLED", "switched off"), "fail"],
  ] as const)("E-11: only a code that the plugin itself answers is tried again: %j", (failure, decision) => {
    expect(decide(rule("retry"), { verb: "ADD", index: 1, fault: failure, tries: 1 })).toBe(decision);
  });

  test("The codes of the rule replace the default", () => {
    const own = rule("retry", { retryOn: [105] });
    expect(decide(own, { verb: "ADD", index: 1, fault: fault("PLUGIN_FAILED", "x", { code: 105 }), tries: 1 })).toBe("retry");
    expect(decide(own, { verb: "ADD", index: 1, fault: tryAgain, tries: 1 })).toBe("fail");
  });

  test("Pauses double up to five seconds", () => {
    expect([1, 2, 3, 5, 6, 10].map(retryPauseMs)).toEqual([200, 400, 800, 3200, 5000, 5000]);
  });

  test("E-11: the reason why open does not hold for the first plugin is given", () => {
    expect(whyNotOpen(rule("open"), 0, "bridge")).toMatch(/"open" of bridge does not hold for the first plugin/);
    expect([whyNotOpen(rule("open"), 1, "bridge"), whyNotOpen(rule("closed"), 0, "bridge")]).toEqual([undefined, undefined]);
  });
});
