import { describe, expect, test } from "vitest";
import { fault, neverBegun } from "../fault/fault.ts";
import { failedStepOf, mayPassOver, wasNeverBegun } from "./failed-step.ts";

const failed = fault("PLUGIN_FAILED", 'plugin type="x" failed (add): no veth8a of 4711');

describe("a step whose ADD failed", () => {
  test("is kept with code and message", () => {
    expect(failedStepOf(1, failed)).toEqual({ step: 1, code: 999, msg: failed.msg });
  });

  test.each([
    ["did not end in time", fault("PLUGIN_TIMEOUT", "did not end within 60000 ms")],
    ["has code 11", fault("PLUGIN_FAILED", "busy", { code: 11 })],
    ["crashed", fault("PLUGIN_FAILED", "netplugin failed with no error message: signal: killed")],
    ["trapped", fault("DELEGATE_TRAPPED", "unreachable")],
  ])("is not kept if it %s, because it may have attached something", (_, reason) => {
    expect(failedStepOf(1, reason)).toBeUndefined();
  });

  test("has the same failure in DEL if code and message are equal, except numbers and the verb", () => {
    const step = failedStepOf(1, failed);
    expect(mayPassOver(step, 1, fault("PLUGIN_FAILED", 'plugin type="x" failed (delete): no veth9a of 12'))).toBe(true);
    expect(mayPassOver(step, 1, fault("PLUGIN_FAILED", 'plugin type="x" failed (delete): no vlan of 12'))).toBe(false);
    expect(mayPassOver(step, 1, fault("PLUGIN_FAILED", failed.msg, { code: 5 }))).toBe(false);
  });

  test("may not be passed over if it ran before the failed step; later steps never ran", () => {
    const step = failedStepOf(1, failed);
    expect([0, 2].map((index) => mayPassOver(step, index, failed))).toEqual([false, true]);
    expect(mayPassOver(undefined, 2, failed)).toBe(false);
  });

  test("a failure whose message is cut in the journal still counts as the same", () => {
    const long = fault("PLUGIN_FAILED", `${"long ".repeat(100)}end`);
    const step = failedStepOf(0, long);
    expect(step?.msg.length).toBeLessThanOrEqual(300);
    expect(mayPassOver(step, 0, long)).toBe(true);
  });
});

describe("a step that can't be started", () => {
  const notBegun = neverBegun(fault("COMPONENT_REFUSED", "has no section"));

  test("is kept as not begun in ADD, whatever its kind and code are", () => {
    expect(failedStepOf(1, notBegun)).toEqual({ step: 1, code: notBegun.code, msg: notBegun.msg, notBegun: true });
    expect(failedStepOf(0, { ...notBegun, code: 11 })).toMatchObject({ notBegun: true });
  });

  test("has nothing to undo if neither ADD nor DEL began it, even for different reasons", () => {
    const step = failedStepOf(1, notBegun);
    const other = neverBegun(fault("PLUGIN_NOT_STARTABLE", "no interpreter"));
    expect([0, 1, 2].map((index) => wasNeverBegun(step, index, other))).toEqual([false, true, true]);
    expect(wasNeverBegun(step, 1, failed)).toBe(false);
    expect(wasNeverBegun(failedStepOf(1, failed), 1, other)).toBe(false);
    expect(wasNeverBegun(undefined, 1, other)).toBe(false);
  });
});
