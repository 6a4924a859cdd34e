// The report of a pod's policies for administrators has each interface and direction that policies isolate, with the policies and the number of their peers.

import type { PolicyTable } from "./table.ts";

/** The path of the report on the daemon's status socket. */
export const policyTablesPath = "/policy-tables";

/** The kind of the report. */
export const policyTablesKind = "PolicyTables";

/** A direction of one interface that policies isolate. */
export interface IsolatedDirection {
  readonly ifname: string;
  /** The definition, and the PodNetwork behind a space if there is one. */
  readonly network: string;
  readonly direction: "ingress" | "egress";
  /** Elements of sets: addresses, ranges, and addresses with ports. */
  readonly policies: readonly ReportedPolicy[];
}

/** A policy of the report. */
export interface ReportedPolicy {
  readonly policy: string;
  readonly peers: number;
  /** Peers on all interfaces beyond the shares of their namespaces: they are not allowed. */
  readonly omitted?: number;
}

/** The content of a pod's table in the report. */
export interface PodPolicies {
  /** Empty: no policy selects the pod. */
  readonly isolated: readonly IsolatedDirection[];
  /** The interfaces whose policies hold at the node's end; absent in reports of earlier daemons. */
  readonly atNode?: readonly string[];
  /** Whether the pod's own table has the policies; absent in reports of earlier daemons: it has. */
  readonly inPod?: boolean;
}

/** The places where the policies of an interface hold, as a word. */
export function placeText({ atNode = [], inPod = true }: Pick<PodPolicies, "atNode" | "inPod">, ifname: string): string {
  if (atNode.includes(ifname)) return inPod ? "node" : "node only";
  return inPod ? "pod" : "unknown";
}

const hooks = { input: "ingress", postrouting: "egress" } as const;

/** The isolated directions of a table. */
export function isolatedDirections({ chains, sets, omitted = [] }: PolicyTable): readonly IsolatedDirection[] {
  return chains.flatMap(({ hook, rules }) => {
    if (hook?.at !== "input" && hook?.at !== "postrouting") return [];
    const direction = hooks[hook.at];
    return rules.flatMap(({ matches, end, comment }): IsolatedDirection[] => {
      // An interface has a further rule for the case that it is in a VRF.
      if (end.kind !== "jump" || matches.some(({ kind }) => kind === "vrf-port")) return [];
      const chain = chains.find(({ name }) => name === end.chain);
      const policies = (chain?.rules ?? []).flatMap((rule) => {
        if (rule.end.kind !== "jump") return [];
        const prefix = `${rule.end.chain}/`;
        const peers = sets.reduce((sum, set) => sum + (set.name.startsWith(prefix) ? set.elements.size : 0), 0);
        const policy = rule.comment;
        const left = omitted.reduce((sum, each) => sum + (each.policy === policy ? each.peers : 0), 0);
        return [left === 0 ? { policy, peers } : { policy, peers, omitted: left }];
      });
      return [{ ifname: end.chain.slice(end.chain.indexOf("/") + 1), network: comment, direction, policies }];
    });
  });
}
