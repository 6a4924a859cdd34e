// Policies and pods for the tests of the rules.

import { readAddress, type IpAddress } from "../../../../src/net/ip.ts";
import { appliedPolicies } from "../applied-policies.ts";
import { compile, type Established } from "../compile.ts";
import { finds, type FindPeers } from "../peers.ts";
import { type Policy, readPolicy } from "../policy.ts";
import type { NamedPort } from "../../../../src/kube/named-ports.ts";
import { judgePacket, type Packet } from "../judge-packet.ts";
import type { PolicyTable } from "../table.ts";

/** The address of a text that is one. */
export function address(text: string): IpAddress {
  const read = readAddress(text);
  if (read === undefined) throw new TypeError(`${text} is no address`);
  return read;
}

/** A MultiNetworkPolicy on the network `red` of the namespace `a`. */
export function policyObject(spec: object, name = "p", networks = "red"): object {
  return { metadata: { namespace: "a", name, annotations: { "k8s.v1.cni.cncf.io/policy-for": networks } }, spec };
}

/** The policy of an object that can be read. */
export function readable(object: object): Policy {
  const policy = readPolicy(object, "MultiNetworkPolicy");
  if (policy === undefined || "problem" in policy) throw new TypeError(JSON.stringify(policy ?? object));
  return policy;
}

/** A pod on the network `a/red`. */
export interface TestPod {
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly addresses: readonly string[];
  readonly network?: string;
  readonly ports?: readonly NamedPort[];
}

/** Labels of the namespaces. */
export const namespaces: Readonly<Record<string, Readonly<Record<string, string>>>> = { a: { team: "one" }, b: { team: "two" } };

/** Finds peers among these pods, as the controller does. */
export function peersAmong(pods: readonly TestPod[]): FindPeers {
  return (query) =>
    pods
      .filter((pod) => (pod.network ?? "a/red") === query.network)
      .filter(({ namespace, labels }) =>
        finds(query, {
          namespace,
          namespaceLabels: new Map(Object.entries(namespaces[namespace] ?? {})),
          labels: new Map(Object.entries(labels)),
        }),
      )
      .map(({ namespace, addresses, ports = [] }) => ({ namespace, addresses: addresses.map(address), ports }));
}

/** The table of the pod with the labels `app: web` in the namespace `a` on `net1`, the network `a/red`. */
export function tableOf(
  policies: readonly Policy[],
  pods: readonly TestPod[],
  {
    ports = [],
    established = "keep",
    keepsIpv6 = false,
  }: { ports?: readonly NamedPort[]; established?: Established; keepsIpv6?: boolean } = {},
): PolicyTable | undefined {
  const link = { ifname: "net1", networks: ["a/red"] };
  const pod = { namespace: "a", labels: new Map([["app", "web"]]) };
  const applied = appliedPolicies(policies, pod, link);
  const compiled = compile({
    interfaces: [{ link, policies: applied.policies }],
    ports,
    findPeers: peersAmong(pods),
    established,
    keepsIpv6,
  });
  if (!compiled.ok) throw new TypeError(compiled.problem);
  return compiled.value;
}

/** Whether a packet of a new connection passes. */
export function passes(
  table: PolicyTable | undefined,
  direction: "in" | "out",
  peer: string,
  { protocol = 6, port = 80, more = {} }: { protocol?: number; port?: number; more?: Partial<Packet> } = {},
): boolean {
  if (table === undefined) return true;
  const self = address(peer.includes(":") ? "fd00::1" : "10.0.0.1");
  const [source, destination] = direction === "in" ? [address(peer), self] : [self, address(peer)];
  const packet: Packet = {
    direction,
    ifname: "net1",
    source,
    destination,
    protocol,
    destinationPort: port,
    state: "new",
    ...more,
  };
  return judgePacket(table, packet).accepted;
}
