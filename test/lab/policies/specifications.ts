// The scenarios of multi-networkpolicy-iptables' specifications in Go: three namespaces with the pods a, b and c each, and one policy of the first namespace.

import { type Scenario, type ScenarioPod } from "./scenario.ts";

const letters = ["a", "b", "c"];
const spaces = { x: "shop", y: "blue", z: "green" };

/** `xa` to `zc`. */
const pods: Readonly<Record<string, ScenarioPod>> = Object.fromEntries(
  Object.entries(spaces).flatMap(([space, namespace]) =>
    letters.map((letter) => [`${space}${letter}`, { namespace, labels: { pod: letter } }]),
  ),
);
const names = Object.keys(pods);
const a = { podSelector: { matchLabels: { pod: "a" } } };
const b = { podSelector: { matchLabels: { pod: "b" } } };
const y = { namespaceSelector: { matchLabels: { name: "blue" } } };
const tcp = { protocol: "TCP", port: 5555 };
const udp = { protocol: "UDP", port: 6666 };
const variants = ["5555", "6666", "5555/udp", "6666/udp"];

/** Only these pods reach the pod `a` of the first namespace; the pods that no policy selects reach each other. */
function onlyFrom(name: string, from: readonly object[], allowed: readonly string[]): Scenario {
  const others = names.filter((each) => each !== "xa" && !allowed.includes(each));
  return {
    name,
    pods,
    policies: [{ ...a, policyTypes: ["Ingress"], ingress: [{ from }] }],
    passes: [...allowed.map((each) => `${each} xa 5555`), "xb xc 5555", "xa ya 5555"],
    stops: others.map((each) => `${each} xa 5555`),
  };
}

/** Only these ports of the pod `a` are open. */
function onlyPorts(name: string, rule: object, open: readonly string[]): Scenario {
  return {
    name,
    pods,
    policies: [{ ...a, policyTypes: ["Ingress"], ingress: [rule] }],
    passes: open.map((port) => `xb xa ${port}`),
    stops: variants.filter((port) => !open.includes(port)).map((port) => `xb xa ${port}`),
  };
}

/** The scenarios. */
export const specifications: readonly Scenario[] = [
  {
    name: "DENY all traffic to a pod",
    pods,
    policies: [{ ...a, policyTypes: ["Ingress"], ingress: [] }],
    passes: ["xb xc 5555", "xb xc 5555/udp"],
    stops: ["xb xa 5555", "xb xa 5555/udp", "xc xa 5555", "xc xa 5555/udp"],
  },
  {
    name: "DENY all traffic to and within a namespace",
    pods,
    policies: [{ podSelector: {}, policyTypes: ["Ingress"], ingress: [] }],
    passes: ["ya yb 5555", "za zb 5555", "ya za 5555", "zb yc 5555", "xa ya 5555"],
    stops: ["xa xb 5555", "xb xc 5555", "xc xa 5555", "ya xa 5555", "za xa 5555"],
  },
  onlyFrom("ALLOW traffic to a pod only from a pod", [b], ["xb"]),
  onlyFrom("ALLOW traffic to a pod only from a namespace", [y], ["ya", "yb", "yc"]),
  // The selector of pods alone means the policy's own namespace: `b` of the third namespace does not pass.
  onlyFrom("ALLOW traffic to a pod only from a namespace OR a pod", [y, b], ["xb", "ya", "yb", "yc"]),
  onlyFrom("ALLOW traffic to a pod only from a namespace AND a pod", [{ ...y, ...b }], ["yb"]),
  {
    name: "DENY all traffic from a pod",
    pods,
    policies: [{ ...a, policyTypes: ["Egress"], egress: [] }],
    passes: ["xb xc 5555", "xb xa 5555"],
    stops: ["xa xb 5555", "xa xc 5555", "xa ya 5555"],
  },
  {
    name: "ALLOW traffic from a pod only to a pod",
    pods,
    policies: [{ ...a, policyTypes: ["Egress"], egress: [{ to: [b] }] }],
    passes: ["xa xb 5555", "xb xc 5555"],
    stops: ["xa xc 5555", "xa yb 5555"],
  },
  onlyPorts("Allow access only to a specific port/protocol TCP", { ports: [tcp], from: [b] }, ["5555"]),
  onlyPorts("Allow access only to a specific port/protocol UDP", { ports: [udp], from: [b] }, ["6666/udp"]),
  onlyPorts("Allow access only to a specific port/protocol TCP+UDP", { ports: [tcp, udp], from: [b] }, ["5555", "6666/udp"]),
  onlyPorts("Allow access only to a specific UDP port from any pod", { ports: [udp] }, ["6666/udp"]),
];
