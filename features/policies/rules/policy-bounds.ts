// Bounds of one policy's queries. Controller and nodes apply the same rule: a policy beyond it counts as unreadable for both.

import { policyQueries, queryText } from "./peers.ts";
import type { Policy, UnreadablePolicy } from "./policy.ts";

/** Each query of a policy is an object of the API, which has the query's text. */
export const policyBounds = { queries: 512, queryCharacters: 4096 } as const;

/**
 * The policy, or an unreadable one in its place. A NetworkPolicy counts for one network: others decide how many PodNetworks ask for it, and the bound of the
 * namespace holds for all of them.
 */
export function boundedPolicy(policy: Policy | UnreadablePolicy): Policy | UnreadablePolicy {
  if ("problem" in policy) return policy;
  const networks = policy.kind === "NetworkPolicy" ? 1 : policy.networks.length;
  const texts = new Set<string>();
  for (const query of policyQueries(policy, "")) {
    const text = queryText(query);
    if (text.length > policyBounds.queryCharacters)
      return unreadable(
        policy,
        `the selectors of a peer have ${text.length} characters; Plexus allows ${policyBounds.queryCharacters}`,
      );
    texts.add(text);
    if (texts.size * networks > policyBounds.queries) {
      const groups = `${networks === 1 ? "" : `${networks} networks × `}${texts.size} or more`;
      return unreadable(
        policy,
        `the policy asks for ${groups} groups of peers; Plexus allows ${policyBounds.queries}. Divide the policy.`,
      );
    }
  }
  return policy;
}

function unreadable({ kind, namespace, name, networks, networkProblems }: Policy, problem: string): UnreadablePolicy {
  return { kind, namespace, name, networks, networkProblems, problem };
}
