// The judgement of an echo request by a pod's table, with the names of the policies that forbid the request.

import type { JudgedEcho } from "../../../src/kube/packet-judge.ts";
import { judgePacket } from "./judge-packet.ts";
import type { PolicyTable } from "./table.ts";
import { isolatedDirections } from "./table-report.ts";

/** Protocol and type of an echo request by family. */
const requests = { 4: { protocol: 1, icmpType: 8 }, 6: { protocol: 58, icmpType: 128 } } as const;

/** The policies that forbid the request, as `NAMESPACE/NAME`; empty: the table accepts it. `namespace`: the pod's, which its policies have, too. */
export function forbiddingPolicies(table: PolicyTable, namespace: string, echo: JudgedEcho): readonly string[] {
  const { direction, ifname, source } = echo;
  const { accepted } = judgePacket(table, { ...echo, ...requests[source.family], hopLimit: 64, state: "new" });
  if (accepted) return [];
  const side = direction === "in" ? "ingress" : "egress";
  const isolated = isolatedDirections(table).find((each) => each.ifname === ifname && each.direction === side);
  // The table names a policy by kind and name: all policies of a pod are of its namespace.
  return (isolated?.policies ?? []).map(({ policy }) => `${namespace}/${policy.slice(policy.indexOf(" ") + 1)}`);
}
