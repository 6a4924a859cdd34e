// Interfaces on which ingress policies of the pod's table would not hold.

import { expect, test } from "vitest";
import { policyObject, readable, tableOf } from "./testing/policy-objects.ts";
import { unfilteredIngress } from "./unfiltered-ingress.ts";

const list = (step: object): string =>
  JSON.stringify({
    cniVersion: "1.0.0",
    name: "red",
    plugins: [{ type: "tuning" }, { type: "ipvlan", master: "eth1", ...step }],
  });
const isolating = (policyType: string) => tableOf([readable(policyObject({ podSelector: {}, policyTypes: [policyType] }))], []);

const why = (step: object, policyType = "Ingress", ifname = "net1"): string | undefined =>
  unfilteredIngress(
    [
      { ifname: "eth0", source: "default" },
      { ifname, source: "a/red", conflist: list(step) },
    ],
    isolating(policyType),
  );

test("PO-14: an ipvlan in the mode l3s gets packets past an ingress policy, and none past others or in other modes", () => {
  expect([why({ mode: "l3s" }), why({ Mode: "l3s" })]).toEqual([
    expect.stringContaining("interface net1 of network a/red: packets to an ipvlan in the mode l3s"),
    expect.any(String),
  ]);
  expect([why({}), why({ mode: "l3" }), why({ mode: "l3s" }, "Egress"), why({ mode: "l3s" }, "Ingress", "net2")]).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});
