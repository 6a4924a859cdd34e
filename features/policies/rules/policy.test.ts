// Reading policies, also hostile ones.

import { expect, test } from "vitest";
import { appliedPolicies } from "./applied-policies.ts";
import { blockRanges } from "./ip-block.ts";
import { readSelector, selects } from "./label-selector.ts";
import { readPolicy } from "./policy.ts";
import { askingNetworks, readAsker, readNetworkPolicy } from "./network-policies.ts";
import { policyForAnnotation, readPolicyNetworks } from "./policy-networks.ts";
import { namedPorts } from "../../../src/kube/named-ports.ts";
import { policyObject, readable } from "./testing/policy-objects.ts";

test("PO-01: policy-for names definitions with and without a namespace; a missing annotation names none; unknown names are told, not errors", () => {
  expect(readPolicyNetworks("red, b/blue ,,red", "a")).toEqual({ networks: ["a/red", "b/blue"], problems: [] });
  expect(readPolicyNetworks(undefined, "a")).toEqual({ networks: [], problems: [] });
  const odd = readPolicyNetworks("red,../x,B/blue,a/b/c", "a");
  expect(odd.networks).toEqual(["a/red"]);
  expect(odd.problems).toHaveLength(3);
  expect(readPolicyNetworks(Array.from({ length: 99 }, (_, index) => `n${index}`).join(), "a")).toMatchObject({
    networks: { length: 64 },
    problems: { length: 35 },
  });
  expect(readPolicyNetworks("x".repeat(40_000), "a").problems[0]).toContain("40000 characters");
});

test.each([
  ["40000 characters", "x".repeat(40_000)],
  ["99 networks", Array.from({ length: 99 }, (_, index) => `n${index}`).join()],
])(
  "PO-14: a policy-for with %s makes the policy unreadable for all networks of its namespace, because one of them may be meant",
  (text, networks) => {
    const policy = readPolicy(policyObject({ podSelector: {} }, "p", networks), "MultiNetworkPolicy");
    if (policy === undefined) throw new TypeError("no policy");
    const link = { ifname: "net1", networks: ["c/other"] };
    const onPodOf = (namespace: string): unknown => appliedPolicies([policy], { namespace, labels: new Map() }, link).unreadable;
    expect(onPodOf("a")).toMatchObject([{ network: "c/other", policy: { problem: expect.stringContaining(text) } }]);
    expect(onPodOf("b")).toEqual([]);
  },
);

test("podnetwork/NAME names a PodNetwork", () => {
  const policy = readable(policyObject({ podSelector: {} }, "p", "podnetwork/blue"));
  const pod = { namespace: "a", labels: new Map<string, string>() };
  const link = { ifname: "net1", networks: ["a/red", "podnetwork/blue"] };
  expect(appliedPolicies([policy], pod, link).policies).toMatchObject([{ network: "podnetwork/blue" }]);
});

test("PO-02: a NetworkPolicy is for the PodNetworks that ask for it", () => {
  const podNetworks = [
    { metadata: { name: "red" }, spec: { policies: "NetworkPolicy" } },
    { metadata: { name: "blue" }, spec: { policies: "None" } },
    { metadata: { name: "grey" }, spec: null },
    { metadata: {} },
  ];
  const asking = askingNetworks(podNetworks.flatMap((object) => readAsker(object) ?? []));
  expect(asking).toEqual(["podnetwork/red"]);
  const object = { metadata: { namespace: "a", name: "np" }, spec: { podSelector: {} } };
  const plain = readNetworkPolicy(object, asking);
  if (plain === undefined) throw new TypeError("unreadable");
  const pod = { namespace: "a", labels: new Map<string, string>() };
  const appliedOn = (...networks: readonly string[]) => appliedPolicies([plain], pod, { ifname: "net1", networks }).policies;
  expect(appliedOn("a/red", "podnetwork/red")).toMatchObject([{ network: "podnetwork/red" }]);
  expect(appliedOn("a/red", "podnetwork/blue")).toEqual([]);
  expect(appliedOn("a/red")).toEqual([]);
  // The annotation of a MultiNetworkPolicy means nothing on a NetworkPolicy.
  const annotated = { ...object, metadata: { ...object.metadata, annotations: { [policyForAnnotation]: "a/red" } } };
  expect(readNetworkPolicy(annotated, [])?.networks).toEqual([]);
});

test("PO-17: a policy selects pods of its own namespace only", () => {
  const policy = readable(policyObject({ podSelector: {} }, "p", "b/blue"));
  const link = { ifname: "net1", networks: ["b/blue"] };
  expect(appliedPolicies([policy], { namespace: "b", labels: new Map() }, link)).toEqual({ policies: [], unreadable: [] });
  expect(appliedPolicies([policy], { namespace: "a", labels: new Map() }, link).policies).toHaveLength(1);
});

test("PO-07: leading zeros in a block are decimal, as for the API server, and host bits do not count", () => {
  const blocks = ["010.020.0.9/016", "10.20.0.0/16"].map((cidr) => ({ ipBlock: { cidr, except: ["10.20.07.0/24"] } }));
  const [zeros, plain] = blocks.map((block) => readable(policyObject({ ingress: [{ from: [block] }] })));
  const rangesOf = (policy: typeof zeros) =>
    policy?.ingress?.flatMap(({ peers }) => peers.flatMap((peer) => (peer.kind === "block" ? blockRanges([peer.block], 4) : [])));
  expect(rangesOf(zeros)).toEqual(rangesOf(plain));
  expect(rangesOf(zeros)).toHaveLength(2);
});

const types = (spec: object): readonly boolean[] => {
  const { ingress, egress } = readable(policyObject(spec));
  return [ingress !== undefined, egress !== undefined];
};

test("PO-03: policyTypes default to Ingress, and to Egress if the policy has egress rules", () => {
  expect(types({ podSelector: {} })).toEqual([true, false]);
  expect(types({ podSelector: {}, egress: [] })).toEqual([true, false]);
  expect(types({ podSelector: {}, egress: [{}] })).toEqual([true, true]);
  expect(types({ podSelector: {}, policyTypes: ["Egress"], ingress: [{}] })).toEqual([false, true]);
  expect(types({ podSelector: {}, policyTypes: ["Ingress"], egress: [{}] })).toEqual([true, false]);
  expect(types({})).toEqual([true, false]);
});

const selectors: readonly (readonly [string, object, boolean])[] = [
  ["an empty selector", {}, true],
  ["a label", { matchLabels: { app: "web" } }, true],
  ["another value", { matchLabels: { app: "db" } }, false],
  ["In", { matchExpressions: [{ key: "app", operator: "In", values: ["db", "web"] }] }, true],
  ["NotIn", { matchExpressions: [{ key: "app", operator: "NotIn", values: ["web"] }] }, false],
  ["NotIn of a missing label", { matchExpressions: [{ key: "tier", operator: "NotIn", values: ["web"] }] }, true],
  ["Exists", { matchExpressions: [{ key: "tier", operator: "Exists" }] }, false],
  ["DoesNotExist", { matchExpressions: [{ key: "tier", operator: "DoesNotExist" }] }, true],
  ["both", { matchLabels: { app: "web" }, matchExpressions: [{ key: "tier", operator: "Exists" }] }, false],
  ["a key of Object", { matchExpressions: [{ key: "constructor", operator: "Exists" }] }, false],
];

test.each(selectors)("a selector with %s decides as Kubernetes", (_name, object, selected) => {
  const selector = readSelector(object, "podSelector");
  expect(selector.ok && selects(selector.value, new Map([["app", "web"]]))).toBe(selected);
});

const hostile: readonly (readonly [string, unknown])[] = [
  ["spec is", 5],
  ["spec.podSelector is", { podSelector: [] }],
  ["spec.policyTypes may have", { policyTypes: ["Ingress", "Both"] }],
  ["spec.ingress is", { ingress: {} }],
  ["spec.ingress has 129 entries", { ingress: Array.from({ length: 129 }, () => ({})) }],
  ["spec.ingress[0].from[0] has none of", { ingress: [{ from: [{}] }] }],
  [
    "spec.ingress[0].from[0] has ipBlock and a selector",
    { ingress: [{ from: [{ ipBlock: { cidr: "10.0.0.0/8" }, podSelector: {} }] }] },
  ],
  ["spec.ingress[0].from[0].ipBlock.cidr is", { ingress: [{ from: [{ ipBlock: { cidr: "10.0.0.0" } }] }] }],
  ["which is no smaller network", { ingress: [{ from: [{ ipBlock: { cidr: "10.0.0.0/8", except: ["11.0.0.0/16"] } }] }] }],
  ["which is no smaller network", { ingress: [{ from: [{ ipBlock: { cidr: "10.0.0.0/8", except: ["10.0.0.0/8"] } }] }] }],
  ["spec.ingress[0].ports[0].port is", { ingress: [{ ports: [{ port: 70_000 }] }] }],
  ["spec.ingress[0].ports[0].port is", { ingress: [{ ports: [{ port: "A b" }] }] }],
  ["spec.ingress[0].ports[0].endPort must be", { ingress: [{ ports: [{ port: "http", endPort: 90 }] }] }],
  ["spec.ingress[0].ports[0].endPort must be", { ingress: [{ ports: [{ port: 90, endPort: 80 }] }] }],
  ["spec.ingress[0].ports[0].protocol must be", { ingress: [{ ports: [{ protocol: "__proto__" }] }] }],
  [
    "requirements; Plexus allows 64",
    { podSelector: { matchLabels: Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`k${index}`, ""])) } },
  ],
];

test.each(hostile)("a policy of which %s … is unreadable, and counts for its namespace", (text, spec) => {
  const policy = readPolicy(policyObject(spec as object), "MultiNetworkPolicy");
  expect(policy).toMatchObject({ networks: ["a/red"], problem: expect.stringContaining(text) });
  const applied = appliedPolicies(
    policy === undefined ? [] : [policy],
    { namespace: "a", labels: new Map() },
    { ifname: "net1", networks: ["a/red"] },
  );
  expect(applied).toMatchObject({ policies: [], unreadable: [{ network: "a/red" }] });
});

test("an object without usable metadata is no policy", () => {
  for (const object of [null, 5, {}, { metadata: { name: "../x" } }]) expect(readPolicy(object, "NetworkPolicy")).toBeUndefined();
});

test("PO-08: named ports are those of containers and of sidecars, and not of containers that only prepare the pod", () => {
  const spec = {
    containers: [{ ports: [{ name: "http", containerPort: 80 }, { name: "BAD", containerPort: 1 }, { containerPort: 2 }] }, null],
    initContainers: [
      { restartPolicy: "Always", ports: [{ name: "dns", containerPort: 53, protocol: "UDP" }] },
      { ports: [{ name: "setup", containerPort: 9000 }] },
      { restartPolicy: "Never", ports: [{ name: "once", containerPort: 9001 }] },
    ],
  };
  expect(namedPorts({ spec })).toEqual([
    { name: "http", protocol: "TCP", port: 80 },
    { name: "dns", protocol: "UDP", port: 53 },
  ]);
  expect(namedPorts(undefined)).toEqual([]);
});
