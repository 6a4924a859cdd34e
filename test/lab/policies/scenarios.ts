// Scenarios of MultiNetworkPolicies. Each has the name of the end-to-end test of multi-networkpolicy-nftables and multi-networkpolicy-iptables
// (k8snetworkplumbingwg) whose connections it judges; policies and pods are written anew. They run in network namespaces and on a cluster.

import type { Scenario, ScenarioPod } from "./scenario.ts";
import { specifications } from "./specifications.ts";

const pod = (name: string, labels: Readonly<Record<string, string>> = {}, namespace = "shop"): ScenarioPod => ({
  labels: { name, ...labels },
  namespace,
});
const named = (name: string) => ({ podSelector: { matchLabels: { name } } });
const labelled = (key: string, value: string) => ({ podSelector: { matchLabels: { [key]: value } } });
const inNamespace = (key: string, value: string) => ({ namespaceSelector: { matchLabels: { [key]: value } } });
const block = (number: number) => ({ ipBlock: { cidr: `10.0.0.${number}/32` } });
const block6 = (number: number) => ({ ipBlock: { cidr: `fd00::${number}/128` } });
const tcp = (...ports: readonly number[]) => ports.map((port) => ({ protocol: "TCP", port }));
const server = named("server");
const four = { server: pod("server"), a: pod("a"), b: pod("b"), c: pod("c") };
const roles = {
  server: pod("server"),
  a: pod("a", { role: "allowed" }),
  b: pod("b", { role: "blocked" }),
  c: pod("c", { role: "other" }),
};
const back = ["server a 5555", "server b 5555", "server c 5555"];

/** Policies for two networks of the same pods: each holds on its own network only. */
function twoNetworks(direction: "ingress" | "egress", peers: "from" | "to"): Pick<Scenario, "pods" | "policies" | "yellow"> {
  const policy = (peer: string): object => ({
    ...server,
    policyTypes: [direction === "ingress" ? "Ingress" : "Egress"],
    [direction]: [{ [peers]: [named(peer)] }],
  });
  return { pods: { server: pod("server"), a: pod("a"), b: pod("b") }, policies: [policy("a")], yellow: [policy("b")] };
}

/** The scenarios. */
export const scenarios: readonly Scenario[] = [
  {
    name: "simple-v4-ingress, simple-v6-ingress",
    pods: four,
    policies: [{ ...server, policyTypes: ["Ingress"], ingress: [{ from: [named("a")] }] }],
    passes: ["a server 5555", ...back],
    stops: ["b server 5555", "c server 5555"],
  },
  {
    name: "simple-v4-ingress-list, simple-v6-ingress-list",
    pods: four,
    policies: [{ ...server, ingress: [{ from: [named("a")] }, { from: [named("c")] }] }],
    passes: ["a server 5555", "c server 5555", ...back],
    stops: ["b server 5555"],
  },
  {
    name: "simple-v4-egress",
    pods: four,
    policies: [{ ...server, policyTypes: ["Egress"], egress: [{ to: [named("a")] }] }],
    passes: ["a server 5555", "b server 5555", "server a 5555"],
    stops: ["server b 5555", "server c 5555"],
  },
  {
    name: "simple-v4-egress-list",
    pods: four,
    policies: [{ ...server, policyTypes: ["Egress"], egress: [{ to: [named("a")] }, { to: [named("c")] }] }],
    passes: ["a server 5555", "b server 5555", "c server 5555", "server a 5555", "server c 5555"],
    stops: ["server b 5555"],
  },
  {
    name: "simple-v4-ingress-multi, simple-v6-ingress-multi",
    ...twoNetworks("ingress", "from"),
    passes: [
      "a server 5555",
      "b server 5555 yellow",
      ...["a", "b"].flatMap((to) => [`server ${to} 5555`, `server ${to} 5555 yellow`]),
    ],
    stops: ["b server 5555", "a server 5555 yellow"],
  },
  {
    name: "simple-v4-egress-multi",
    ...twoNetworks("egress", "to"),
    passes: [
      "server a 5555",
      "server b 5555 yellow",
      ...["a", "b"].flatMap((from) => [`${from} server 5555`, `${from} server 5555 yellow`]),
    ],
    stops: ["server b 5555", "server a 5555 yellow"],
  },
  {
    name: "stacked",
    pods: four,
    policies: [
      { ...server, policyTypes: ["Ingress"], ingress: [{ from: [named("a")] }] },
      { ...server, policyTypes: ["Ingress"], ingress: [{ from: [named("b")] }] },
    ],
    passes: ["a server 5555", "b server 5555"],
    stops: ["c server 5555"],
  },
  {
    name: "ipblock",
    pods: four,
    policies: [{ ...server, policyTypes: ["Ingress"], ingress: [{ from: [block(12), block6(12), block(13), block6(13)] }] }],
    passes: ["a server 5555", "b server 5555"],
    stops: ["c server 5555"],
  },
  {
    name: "ipblock-list",
    pods: four,
    policies: [
      {
        ...server,
        policyTypes: ["Ingress"],
        ingress: [{ from: [block(12), block6(12)] }, { from: [block(13), block6(13)] }],
      },
    ],
    passes: ["a server 5555", "b server 5555"],
    stops: ["c server 5555"],
  },
  {
    name: "ipblock-stacked",
    pods: four,
    policies: [12, 13].map((number) => ({
      ...server,
      policyTypes: ["Ingress"],
      ingress: [{ from: [block(number), block6(number)] }],
    })),
    passes: ["a server 5555", "b server 5555"],
    stops: ["c server 5555"],
  },
  {
    name: "advanced-ipblock-scenarios",
    pods: { ...four, d: pod("d") },
    policies: (["from", "to"] as const).map((peers) => ({
      ...server,
      policyTypes: [peers === "from" ? "Ingress" : "Egress"],
      [peers === "from" ? "ingress" : "egress"]: [
        {
          [peers]: [
            { ipBlock: { cidr: "10.0.0.0/24", except: ["10.0.0.14/32"] } },
            { ipBlock: { cidr: "fd00::/64", except: ["fd00::14/128"] } },
          ],
        },
      ],
    })),
    passes: ["a server 5555", "b server 5555", "d server 5555", "server a 5555"],
    stops: ["c server 5555", "server c 5555"],
  },
  {
    name: "port-range",
    pods: { a: pod("a"), b: pod("b") },
    policies: [
      {
        ...named("a"),
        policyTypes: ["Egress", "Ingress"],
        egress: [{ ports: [{ port: 5000, endPort: 5900 }] }],
        ingress: [{ ports: [{ port: 6000, endPort: 6900 }] }],
      },
    ],
    passes: ["a b 5555", "b a 6666"],
    stops: ["a b 6666", "b a 5555"],
  },
  {
    name: "protocol-only-ports",
    pods: { a: pod("a"), b: pod("b") },
    policies: [
      {
        ...named("a"),
        policyTypes: ["Egress", "Ingress"],
        egress: [{ ports: [{ protocol: "TCP" }] }],
        ingress: [{ ports: [{ protocol: "UDP" }] }],
      },
    ],
    passes: ["a b 5555", "b a 6666/udp"],
    stops: ["a b 6666/udp", "b a 5555"],
  },
  {
    name: "complex-port-specifications",
    pods: { ...roles, c: pod("c", { role: "allowed" }) },
    policies: [
      {
        ...server,
        policyTypes: ["Ingress"],
        ingress: [{ from: [labelled("role", "allowed")], ports: [...tcp(80, 443, 22), { protocol: "UDP", port: 53 }] }],
      },
      { ...server, policyTypes: ["Egress"], egress: [{ to: [labelled("role", "allowed")], ports: tcp(80) }] },
    ],
    passes: ["a server 80", "a server 443", "a server 22", "a server 53/udp", "c server 80", "server a 80"],
    stops: ["a server 8080", "b server 80", "server b 80"],
  },
  {
    name: "ingress-ns-selector-no-pods",
    pods: { server: pod("server"), a: pod("a"), b: pod("b", {}, "blue") },
    policies: [{ ...server, policyTypes: ["Ingress"], ingress: [{ from: [inNamespace("foo", "bar")] }] }],
    passes: ["server a 5555", "server b 5555"],
    stops: ["a server 5555", "b server 5555"],
  },
  {
    name: "accept-all-with-specific-allow",
    pods: roles,
    policies: [
      { ...server, policyTypes: ["Ingress"], ingress: [{ from: [] }] },
      { ...server, policyTypes: ["Ingress"], ingress: [{ from: [labelled("role", "allowed")], ports: tcp(80) }] },
    ],
    passes: ["a", "b", "c"].flatMap((from) => [`${from} server 80`, `${from} server 8080`]),
    stops: [],
  },
  {
    name: "deny-all-with-specific-allow",
    pods: roles,
    policies: [
      { ...server, policyTypes: ["Ingress"], ingress: [] },
      { ...server, policyTypes: ["Ingress"], ingress: [{ from: [labelled("role", "allowed")], ports: tcp(80) }] },
    ],
    passes: ["a server 80"],
    stops: ["a server 8080", "b server 80", "b server 8080", "c server 80", "c server 8080"],
  },
  {
    name: "edge-cases-validation",
    pods: { server: pod("server"), a: pod("a"), b: pod("b", {}, "blue") },
    policies: [
      { ...server, policyTypes: ["Ingress"], ingress: [{ from: [labelled("nonexistent", "label")], ports: tcp(5555) }] },
      { ...server, policyTypes: ["Ingress"], ingress: [{ from: [inNamespace("nonexistent", "label")], ports: tcp(5555) }] },
      { ...server, policyTypes: ["Egress"], egress: [{ to: [labelled("nonexistent", "label")], ports: tcp(5555) }] },
    ],
    passes: ["a b 5555"],
    stops: ["a server 5555", "b server 5555", "server a 5555", "server b 5555", "a server 9999"],
  },
  {
    name: "mixed-selector-policies",
    pods: {
      server: pod("server"),
      a: pod("a", { role: "allowed" }),
      b: pod("b", { role: "blocked" }),
      c: pod("c", { role: "allowed" }, "blue"),
      d: pod("d", { role: "blocked" }, "blue"),
      e: pod("e", { role: "other" }, "blue"),
    },
    policies: [
      {
        ...server,
        policyTypes: ["Ingress"],
        ingress: [{ from: [{ ...inNamespace("environment", "staging"), ...labelled("role", "allowed") }], ports: tcp(5555) }],
      },
      {
        ...server,
        policyTypes: ["Ingress"],
        ingress: [{ from: [labelled("role", "allowed"), inNamespace("environment", "staging")], ports: tcp(5555) }],
      },
      {
        ...server,
        policyTypes: ["Egress"],
        egress: [{ to: [{ ...inNamespace("environment", "staging"), ...labelled("role", "allowed") }], ports: tcp(5555) }],
      },
    ],
    passes: ["a server 5555", "c server 5555", "d server 5555", "e server 5555", "server c 5555"],
    stops: ["b server 5555", "server a 5555", "server b 5555", "server d 5555", "server e 5555"],
  },
  {
    // The other projects use a definition for each namespace on one wire. Plexus allows addresses of the policy's own network only, so all pods are on one definition.
    name: "multi-namespace-multinet",
    pods: {
      a1: pod("1"),
      a2: pod("2"),
      b1: pod("1", {}, "blue"),
      b2: pod("2", {}, "blue"),
      c1: pod("1", {}, "green"),
      c2: pod("2", {}, "green"),
    },
    policies: [
      {
        ...named("1"),
        policyTypes: ["Ingress", "Egress"],
        ingress: [{ from: [{ ...inNamespace("name", "blue"), ...named("1") }] }],
        egress: [{ to: [{ ...inNamespace("name", "blue"), ...named("2") }] }],
      },
    ],
    passes: [
      "b1 a1 5555",
      "a1 b2 5555",
      ...["b1", "b2", "c1", "c2"].map((to) => `a2 ${to} 5555`),
      ...["a2", "b2", "c1", "c2"].map((to) => `b1 ${to} 5555`),
    ],
    stops: [
      ...["a2", "b1", "c1", "c2"].map((to) => `a1 ${to} 5555`),
      ...["a2", "b2", "c1", "c2"].map((from) => `${from} a1 5555`),
    ],
  },
  {
    name: "production-like-scenarios",
    pods: {
      frontend: pod("frontend", { tier: "frontend" }),
      backend: pod("backend", { tier: "backend" }),
      database: pod("database", { tier: "database" }),
      monitoring: pod("monitoring", { tier: "monitoring" }),
      outside: pod("outside", { tier: "outside" }, "blue"),
    },
    policies: [
      {
        ...labelled("tier", "frontend"),
        policyTypes: ["Ingress", "Egress"],
        ingress: [{ from: [inNamespace("environment", "production")], ports: tcp(80, 443) }],
        egress: [{ to: [labelled("tier", "backend")], ports: tcp(80, 443) }],
      },
      {
        ...labelled("tier", "backend"),
        policyTypes: ["Ingress", "Egress"],
        ingress: [
          { from: [labelled("tier", "frontend")], ports: tcp(80, 443) },
          { from: [labelled("tier", "monitoring")], ports: tcp(8080) },
        ],
        egress: [{ to: [labelled("tier", "database")], ports: tcp(3306) }],
      },
      {
        ...labelled("tier", "database"),
        policyTypes: ["Ingress"],
        ingress: [{ from: [labelled("tier", "backend")], ports: tcp(3306) }],
      },
      {
        ...labelled("tier", "monitoring"),
        policyTypes: ["Egress"],
        egress: [{ to: [labelled("tier", "backend")], ports: tcp(8080) }],
      },
    ],
    passes: ["frontend backend 80", "frontend backend 443", "backend database 3306", "monitoring backend 8080"],
    stops: [
      "frontend backend 22",
      "frontend database 3306",
      "monitoring database 3306",
      "outside frontend 80",
      "backend outside 80",
      "monitoring frontend 80",
      "frontend monitoring 8080",
      "database backend 80",
      "outside backend 80",
    ],
  },
  {
    name: "disabled policies: without a policy everything passes",
    pods: four,
    policies: [],
    passes: ["a server 5555", "b server 5555", "c server 5555", ...back],
    stops: [],
  },
  ...specifications,
];
