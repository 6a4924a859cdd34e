import { expect, test } from "vitest";
import { maxPodQueries, podQueries } from "./pod-queries.ts";
import { policyObject, readable } from "./testing/policy-objects.ts";

const link = { ifname: "net1", networks: ["a/red"] };
const from = (first: number, count: number) => [
  { from: Array.from({ length: count }, (_, index) => ({ podSelector: { matchLabels: { app: `a${first + index}` } } })) },
];
const isolated = (objects: readonly object[]) => [
  { link, policies: objects.map((object) => ({ policy: readable(object), network: "a/red" })) },
];

test("PO-19: equal queries of a pod's policies are one, and too many policies or queries are refused before slices are read", () => {
  const one = policyObject({ podSelector: {}, ingress: from(0, 3) });
  const both = podQueries(isolated([one, policyObject({ podSelector: {}, ingress: from(2, 2) }, "q")]));
  expect(both).toMatchObject({ ok: true, value: [{}, {}, {}, {}] });
  const many = Array.from({ length: 17 }, (_, index) => policyObject({ podSelector: {}, ingress: from(index * 128, 128) }));
  expect(podQueries(isolated(many.slice(0, 16)))).toMatchObject({ ok: true });
  expect(podQueries(isolated(many))).toMatchObject({ ok: false, problem: expect.stringContaining(String(maxPodQueries)) });
  const policies = Array.from({ length: 257 }, () => one);
  expect(podQueries(isolated(policies))).toMatchObject({
    ok: false,
    problem: "257 policies apply to the pod; Plexus allows 256",
  });
});
