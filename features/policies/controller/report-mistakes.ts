// Events of policies that cannot be read, or whose annotation names no network.

import type { PartContext } from "../../../host/controller/part.ts";
import { namespaceBounds } from "./asked-queries.ts";
import type { Policy, UnreadablePolicy } from "../rules/policy.ts";

/** A policy with the identity of its object. */
export interface SeenPolicy {
  readonly policy: Policy | UnreadablePolicy;
  readonly uid: string | undefined;
}

const apiVersions = { MultiNetworkPolicy: "k8s.cni.cncf.io/v1beta1", NetworkPolicy: "networking.k8s.io/v1" } as const;

/** Sends an Event for each mistake. The next Event with the same content comes with the next change of the policy. */
export function reportMistakes({ event }: Pick<PartContext, "event">, { policy, uid }: SeenPolicy): void {
  const { networkProblems } = policy;
  const target = targetOf({ policy, uid });
  const tell = (reason: string, message: string): void => event(target, { type: "Warning", reason, message });
  // A policy for no network affects no pod.
  const networks = "isForAny" in policy ? "any further network" : policy.networks.join(", ");
  if ("problem" in policy && networks !== "")
    tell(
      "PolicyUnreadable",
      `pods of the namespace on ${networks} do not start, except with policies.failure: open: ${policy.problem}`,
    );
  if (networkProblems.length > 0) tell("PolicyNetworkUnknown", networkProblems.join("; "));
}

/** Sends the Event of a policy whose queries are beyond the bounds of its namespace. Its rules with pods as peers allow nothing. */
export function reportUnanswered({ event }: Pick<PartContext, "event">, seen: SeenPolicy): void {
  const { queries, characters } = namespaceBounds;
  const bounds = `${queries} groups of peers with ${characters} characters`;
  const message = `the namespace's policies ask for more than ${bounds}, so this policy allows no pod as a peer. Remove policies of the namespace.`;
  event(targetOf(seen), { type: "Warning", reason: "PolicyNotAnswered", message });
}

function targetOf({ policy: { kind, namespace, name }, uid }: SeenPolicy): Parameters<PartContext["event"]>[0] {
  return { kind, apiVersion: apiVersions[kind], eventNamespace: namespace, name, uid };
}
