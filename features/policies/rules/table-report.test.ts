import { expect, test } from "vitest";
import { isolatedDirections, placeText } from "./table-report.ts";
import { policyObject, readable, tableOf } from "./testing/policy-objects.ts";

test("PO-20: a table's report names the policies of each interface and direction, with the number of their peers", () => {
  const db = { podSelector: { matchLabels: { app: "db" } } };
  const web = { podSelector: {}, ingress: [{ from: [db, { ipBlock: { cidr: "10.9.0.0/16" } }], ports: [{ port: 80 }] }] };
  const none = { podSelector: {}, policyTypes: ["Ingress", "Egress"] };
  const pods = [
    { namespace: "a", labels: { app: "db" }, addresses: ["10.0.0.3", "fd00::3"] },
    { namespace: "a", labels: { app: "other" }, addresses: ["10.0.0.4"] },
  ];
  const table = tableOf([readable(policyObject(web, "web")), readable(policyObject(none, "none"))], pods);
  const link = { ifname: "net1", network: "a/red" };
  expect(table === undefined ? undefined : isolatedDirections(table)).toEqual([
    {
      ...link,
      direction: "ingress",
      policies: [
        { policy: "MultiNetworkPolicy none", peers: 0 },
        { policy: "MultiNetworkPolicy web", peers: 3 },
      ],
    },
    { ...link, direction: "egress", policies: [{ policy: "MultiNetworkPolicy none", peers: 0 }] },
  ]);
});

test("PO-20: the place of an interface's policies is the pod, the node's end, or both", () => {
  const places = { atNode: ["net1"], inPod: true };
  expect([placeText(places, "net1"), placeText(places, "net2")]).toEqual(["node", "pod"]);
  const atNode = { ...places, inPod: false };
  expect([placeText(atNode, "net1"), placeText(atNode, "net2"), placeText({}, "net1")]).toEqual(["node only", "unknown", "pod"]);
});
