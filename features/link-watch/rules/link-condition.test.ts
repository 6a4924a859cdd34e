import { expect, test } from "vitest";
import { conditionKey, type LinkCondition, withConditions } from "./link-condition.ts";

const condition: LinkCondition = {
  type: "LinkLost",
  status: "True",
  reason: "gone",
  message: "net1 no longer exists",
  lastTransitionTime: "2026-01-01T00:00:00.000Z",
};
const status = JSON.stringify([
  { name: "pods", interface: "eth0", default: true },
  { name: "shop/fast", interface: "net1", ips: ["10.0.0.2"], default: false },
]);

test("WA-01: the condition stands in the entry of its interface, and leaves it without a trace", () => {
  const lost = withConditions(status, new Map([["net1", condition]])) ?? "";
  expect(JSON.parse(lost)[1]).toEqual({ ...JSON.parse(status)[1], [conditionKey]: condition });
  expect(withConditions(lost, new Map())).toBe(status);
});

test("a condition that is there already changes nothing, nor does a status that is none", () => {
  const conditions = new Map([["net1", condition]]);
  const lost = withConditions(status, conditions) ?? "";
  expect(withConditions(lost, new Map([["net1", { ...condition, lastTransitionTime: "2026-02-02T00:00:00.000Z" }]]))).toBe(
    undefined,
  );
  expect(withConditions(status, new Map())).toBe(undefined);
  expect(withConditions("{", conditions)).toBe(undefined);
});
