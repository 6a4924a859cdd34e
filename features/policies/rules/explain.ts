// Why packets of one pod reach another one on a network, or do not: the policies of both pods, compiled as on their nodes, judge a new connection.

import { type IpAddress, formatAddress } from "../../../src/net/ip.ts";
import { problem, type Reading } from "../../../src/kube/object-parts.ts";
import { appliedPolicies } from "./applied-policies.ts";
import { compile } from "./compile.ts";
import { judgePacket, type Packet } from "./judge-packet.ts";
import type { Labels } from "./label-selector.ts";
import { finds, type FindPeers } from "./peers.ts";
import { type Policy, policyText, type UnreadablePolicy } from "./policy.ts";
import { type NamedPort, type Protocol, protocolNumbers } from "../../../src/kube/named-ports.ts";

/** A pod on the network. */
export interface ExplainedPod {
  readonly namespace: string;
  readonly name: string;
  readonly labels: Labels;
  readonly namespaceLabels: Labels;
  readonly ports: readonly NamedPort[];
  /** In the network. */
  readonly addresses: readonly IpAddress[];
  /** The names of the pod's interface on the network, with the pod's addresses by each: policies may be for any of them. */
  readonly networks: ReadonlyMap<string, readonly IpAddress[]>;
}

/** The connection in question. */
export interface Connection {
  readonly from: ExplainedPod;
  readonly to: ExplainedPod;
  readonly network: string;
  readonly protocol: Protocol;
  readonly port: number;
  readonly policies: readonly (Policy | UnreadablePolicy)[];
}

/** One side's decision about one pair of addresses. */
export interface Explanation {
  readonly source: string;
  readonly destination: string;
  readonly side: "egress" | "ingress";
  /** The pod whose policies decide, as `namespace/name`. */
  readonly pod: string;
  readonly allowed: boolean;
  readonly why: string;
}

/** The name of the interface in the tables: any will do. */
const ifname = "net";

/** Explains the connection for each pair of addresses of one family, egress first. A problem names what prevents the decision. */
export function explain(connection: Connection): Reading<readonly Explanation[]> {
  const { from, to, protocol, port } = connection;
  const sides = [judgeOf(connection, from, "egress"), judgeOf(connection, to, "ingress")] as const;
  const found: Explanation[] = [];
  for (const source of from.addresses) {
    for (const destination of to.addresses.filter(({ family }) => family === source.family)) {
      for (const side of sides) {
        if (!side.ok) return side;
        const { direction, judge } = side.value;
        const packet = {
          direction: direction === "egress" ? "out" : "in",
          ifname,
          source,
          destination,
          protocol: protocolNumbers[protocol],
          destinationPort: port,
          state: "new",
        } as const;
        const pod = direction === "egress" ? from : to;
        const texts = { source: formatAddress(source), destination: formatAddress(destination) };
        found.push({ ...texts, side: direction, pod: `${pod.namespace}/${pod.name}`, ...judge(packet) });
      }
    }
  }
  if (found.length > 0) return { ok: true, value: found };
  return problem(`the pods have no addresses of one family on network ${connection.network}, by their network status`);
}

type Judge = (packet: Packet) => Pick<Explanation, "allowed" | "why">;

function judgeOf(
  { from, to, policies }: Connection,
  pod: ExplainedPod,
  direction: Explanation["side"],
): Reading<{ readonly direction: Explanation["side"]; readonly judge: Judge }> {
  const link = { ifname, networks: [...pod.networks.keys()] };
  const { policies: applied, unreadable } = appliedPolicies(policies, pod, link);
  const [bad] = unreadable;
  if (bad !== undefined)
    return problem(`${policyText(bad.policy)} cannot be read, so pods of its namespace do not start: ${bad.policy.problem}`);
  const findPeers: FindPeers = (query) =>
    [from, to].flatMap((each) => {
      const addresses = each.networks.get(query.network);
      return addresses !== undefined && finds(query, each) ? [{ addresses, ports: each.ports }] : [];
    });
  const table = compile({ interfaces: [{ link, policies: applied }], ports: pod.ports, findPeers, established: "keep" });
  if (!table.ok) return table;
  const isolating = applied.filter(({ policy }) => policy[direction] !== undefined).map(({ policy }) => policyText(policy));
  const judge: Judge = (packet) => {
    if (table.value === undefined || isolating.length === 0)
      return { allowed: true, why: `no policy isolates the pod's ${direction}` };
    const { accepted, path } = judgePacket(table.value, packet);
    if (!accepted) return { allowed: false, why: `none of these allows it: ${isolating.join(", ")}` };
    const policy = path.find(({ comment }) => /^(?:Multi)?NetworkPolicy /.test(comment))?.comment;
    return { allowed: true, why: `${policy ?? "a rule for what is always open"} allows it` };
  };
  return { ok: true, value: { direction, judge } };
}
