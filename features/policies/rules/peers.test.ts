// The pods that a query finds.

import { expect, test } from "vitest";
import { type PeerQuery, finds } from "./peers.ts";

const of = (namespaces: PeerQuery["namespaces"]): PeerQuery => ({ network: "a/red", namespaces, pods: [], portNames: [] });
const labels = new Map<string, string>();

test.each([
  [{ key: "team", operator: "NotIn", values: ["evil"] }],
  [{ key: "team", operator: "DoesNotExist", values: [] }],
  [{ key: "team", operator: "Exists", values: [] }],
] as const)("PO-06: a selector of namespaces finds no pod of a namespace whose labels are not known yet: %j", (requirement) => {
  const query = of({ selector: [requirement] });
  const pod = { namespace: "b", labels };
  expect(finds(query, { ...pod, namespaceLabels: undefined })).toBe(false);
  const known = requirement.operator === "Exists" ? new Map([["team", "x"]]) : labels;
  expect(finds(query, { ...pod, namespaceLabels: known })).toBe(true);
});

test("PO-06: without requirements a selector finds the pods of each known namespace, and a name needs no labels", () => {
  const pod = { namespace: "b", labels, namespaceLabels: undefined };
  expect([finds(of({ selector: [] }), pod), finds(of({ selector: [] }), { ...pod, namespaceLabels: labels })]).toEqual([
    false,
    true,
  ]);
  expect([finds(of({ name: "b" }), pod), finds(of({ name: "a" }), pod)]).toEqual([true, false]);
});
