// Explanations of connections between two pods.

import { expect, test } from "vitest";
import { explain, type ExplainedPod } from "./explain.ts";
import { readPolicy } from "./policy.ts";
import { address, policyObject, readable } from "./testing/policy-objects.ts";

const pod = (name: string, namespace: string, addresses: readonly string[], networks = ["a/red"]): ExplainedPod => ({
  namespace,
  name,
  labels: new Map([["app", name]]),
  namespaceLabels: new Map(),
  ports: [],
  addresses: addresses.map(address),
  networks: new Map(networks.map((network) => [network, addresses.map(address)])),
});
const [web, db, far] = [pod("web", "a", ["10.0.0.1", "fd00::1"]), pod("db", "a", ["10.0.0.2"]), pod("far", "b", ["10.0.0.9"])];
const connection = { network: "a/red", protocol: "TCP", port: 80 } as const;
const fromDb = readable(
  policyObject(
    { podSelector: { matchLabels: { app: "web" } }, ingress: [{ from: [{ podSelector: { matchLabels: { app: "db" } } }] }] },
    "from-db",
  ),
);

test("PO-18: an explanation names the policy that allows a connection, those that do not, and the side that decides", () => {
  const policies = [fromDb];
  expect(explain({ ...connection, from: db, to: web, policies })).toMatchObject({
    ok: true,
    value: [
      {
        source: "10.0.0.2",
        destination: "10.0.0.1",
        side: "egress",
        pod: "a/db",
        allowed: true,
        why: "no policy isolates the pod's egress",
      },
      { side: "ingress", pod: "a/web", allowed: true, why: "MultiNetworkPolicy from-db allows it" },
    ],
  });
  expect(explain({ ...connection, from: far, to: web, policies })).toMatchObject({
    value: [{ allowed: true }, { side: "ingress", allowed: false, why: "none of these allows it: MultiNetworkPolicy a/from-db" }],
  });
});

test("PO-18: policies for another name of the interface's network count: for the definition of a PodNetwork, and for the PodNetwork of a definition", () => {
  const both = ["a/red", "podnetwork/blue"];
  const [to, from] = [pod("web", "a", ["10.0.0.1"], both), pod("ui", "a", ["10.0.0.3"], both)];
  for (const network of both)
    expect(explain({ ...connection, network, from, to, policies: [fromDb] })).toMatchObject({
      value: [{ allowed: true }, { side: "ingress", allowed: false }],
    });
  const named = { ...fromDb, networks: ["podnetwork/blue"] };
  const peers = [pod("db", "a", ["10.0.0.2"], both), pod("db", "a", ["10.0.0.2"])];
  expect(peers.map((peer) => explain({ ...connection, from: peer, to, policies: [named] }))).toMatchObject([
    { value: [{}, { allowed: true }] },
    { value: [{}, { allowed: false }] },
  ]);
});

test("PO-18: without common addresses, or with an unreadable policy, there is a reason and no explanation", () => {
  const six = pod("six", "a", ["fd00::2"]);
  expect(explain({ ...connection, from: six, to: db, policies: [] })).toMatchObject({
    problem: expect.stringContaining("no addresses of one family"),
  });
  const odd = readPolicy(policyObject(5 as never, "odd"), "MultiNetworkPolicy");
  expect(explain({ ...connection, from: db, to: web, policies: odd === undefined ? [] : [odd] })).toMatchObject({
    problem: expect.stringContaining("a/odd cannot be read"),
  });
});
