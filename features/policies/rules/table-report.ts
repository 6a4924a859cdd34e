// What a pod's table has, for administrators: each interface and direction that policies isolate, with the policies and the number of their peers.

import type { PolicyTable } from "./table.ts";

/** The path of the report on the daemon's status socket. The parameter `pod` names a pod, any number of times. */
export const policyTablesPath = "/policy-tables";

/** A direction of one interface that policies isolate. */
export interface IsolatedDirection {
  readonly ifname: string;
  /** The definition, and the PodNetwork behind a space if there is one. */
  readonly network: string;
  readonly direction: "ingress" | "egress";
  /** Elements of sets: addresses, ranges, and addresses with ports. */
  readonly policies: readonly { readonly policy: string; readonly peers: number }[];
}

/** The table of a pod. */
export interface PodPolicies {
  /** `namespace/name`. */
  readonly pod: string;
  /** False: the daemon has not written the pod's table since its start. */
  readonly isKnown: boolean;
  /** The reason why the last work for the pod failed. */
  readonly failure?: string | undefined;
  /** Empty: no policy selects the pod. */
  readonly isolated: readonly IsolatedDirection[];
}

/** The report of the daemon. */
export interface PolicyTables {
  readonly apiVersion: "plexus/v1";
  readonly kind: "PolicyTables";
  /** Whether a configuration of the node has the key `policies`. */
  readonly isOn: boolean;
  readonly pods: readonly PodPolicies[];
}

const hooks = { input: "ingress", postrouting: "egress" } as const;

/** The isolated directions of a table. */
export function isolatedDirections({ chains, sets }: PolicyTable): readonly IsolatedDirection[] {
  return chains.flatMap(({ hook, rules }) => {
    if (hook === undefined || hook.at === "forward") return [];
    const direction = hooks[hook.at];
    return rules.flatMap(({ end, comment }): IsolatedDirection[] => {
      if (end.kind !== "jump") return [];
      const chain = chains.find(({ name }) => name === end.chain);
      const policies = (chain?.rules ?? []).flatMap((rule) => {
        if (rule.end.kind !== "jump") return [];
        const prefix = `${rule.end.chain}/`;
        const peers = sets.reduce((sum, set) => sum + (set.name.startsWith(prefix) ? set.elements.size : 0), 0);
        return [{ policy: rule.comment, peers }];
      });
      return [{ ifname: end.chain.slice(end.chain.indexOf("/") + 1), network: comment, direction, policies }];
    });
  });
}
