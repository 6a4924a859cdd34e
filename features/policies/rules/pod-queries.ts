// The queries of all policies of a pod, counted before any slice is read.

import { problem, type Reading } from "../../../src/kube/object-parts.ts";
import { type IsolatedInterface, policyExcess } from "./compile.ts";
import { type PeerQuery, policyQueries, queryText } from "./peers.ts";

/** Maximum queries of one pod. Each query costs the node a file, and a part of a request. */
export const maxPodQueries = 2048;

/** The queries, each once. A problem names the bound that the policies exceed. */
export function podQueries(interfaces: readonly IsolatedInterface[]): Reading<readonly PeerQuery[]> {
  const excess = policyExcess(interfaces);
  if (excess !== undefined) return problem(excess);
  const queries = new Map<string, PeerQuery>();
  for (const { policies } of interfaces) {
    for (const { policy, network } of policies) {
      for (const query of policyQueries(policy, network)) queries.set(queryText(query), query);
      if (queries.size > maxPodQueries)
        return problem(`the pod's policies ask for more than ${maxPodQueries} groups of peers, which is the maximum`);
    }
  }
  return { ok: true, value: [...queries.values()] };
}
