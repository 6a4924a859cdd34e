import { describe, expect, test } from "vitest";
import { readAddress } from "../../../src/net/ip.ts";
import { policyShortfall, type WrittenPlaces } from "./held-policies.ts";
import { nodeTable } from "./node-table.ts";
import { policyObject, readable, tableOf } from "./testing/policy-objects.ts";

const table = tableOf([readable(policyObject({ podSelector: {} }))], []);
const address = readAddress("10.0.0.2");
const end = { ifname: "net1", device: "veth1", mac: [2, 0, 0, 0, 0, 2], addresses: address === undefined ? [] : [address] };
const ends = nodeTable([end], table, "keep");
const whole: WrittenPlaces = { table, ends, isAtNode: true };
const owned = "EPERM: a process of the pod owns the table inet plexus-policies";
const found = (places: Partial<WrittenPlaces>): string | undefined => {
  const shortfall = policyShortfall({ ...whole, ...places });
  return shortfall && `${shortfall.isWhole ? "whole" : "failed"}: ${shortfall.reason}: ${shortfall.message}`;
};

describe("PO-20: the report about a running pod's policies", () => {
  test("policies that are wherever the configuration asks for them have none", () => {
    expect(found({})).toBeUndefined();
    expect(found({ ends: undefined, isAtNode: false })).toBeUndefined();
  });

  test("policies at all of the node's ends are applied, whatever the pod's own table has", () => {
    expect(found({ podProblem: owned })).toBe(
      `whole: PoliciesAtNodeOnly: the policies hold at the node's end of net1. The pod's own table is as it was, and may stop more: ${owned}`,
    );
    expect(found({ table: undefined, podProblem: owned })).toMatch(/^whole: PoliciesAtNodeOnly: no policy selects the pod\. /u);
  });

  test("policies that are nowhere, or not at the end of each isolated interface, are not applied", () => {
    expect(found({ ends: undefined, isAtNode: false, podProblem: owned })).toBe(`failed: PoliciesNotApplied: ${owned}`);
    expect(found({ ends: undefined, podProblem: owned, endProblem: "no end" })).toBe(
      `failed: PoliciesNotApplied: no end; ${owned}`,
    );
    const other = nodeTable([{ ...end, ifname: "net2" }], undefined, "keep");
    expect(found({ ends: other, podProblem: owned })).toBe(`failed: PoliciesNotApplied: ${owned}`);
    expect(found({ podProblem: owned, endProblem: "interface net2 has no end" })).toBe(
      `failed: PoliciesNotApplied: interface net2 has no end; ${owned}; the policies of net1 hold at the node's end, and those of others do not`,
    );
  });

  test("policies in the pod alone are less than the configuration asks for", () => {
    expect(found({ ends: undefined, endProblem: "no end" })).toBe(
      "failed: PoliciesInPodOnly: the policies hold in the pod's network namespace, and not at the node's end of each interface: no end",
    );
    expect(found({ endProblem: "interface net2 has no end" })).toContain("namespace, and at the node's end of net1, and not");
  });
});
