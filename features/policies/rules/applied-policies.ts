// The policies that apply to a pod's interface.

import { type Labels, selects } from "./label-selector.ts";
import type { Policy, UnreadablePolicy } from "./policy.ts";
import type { NamedPort } from "../../../src/kube/named-ports.ts";

/** An interface of a pod. */
export interface PodInterface {
  readonly ifname: string;
  /** The names of its network: `namespace/name` of its definition, `podnetwork/NAME`. */
  readonly networks: readonly string[];
}

/** A pod of this node. */
export interface PolicyPod {
  readonly namespace: string;
  readonly labels: Labels;
  readonly ports: readonly NamedPort[];
}

/** A policy on one interface. `network`: the name by which the policy reaches it, and by which its peers are found. */
export interface AppliedPolicy<T = Policy> {
  readonly policy: T;
  readonly network: string;
}

/** The policies of one interface. */
export interface AppliedPolicies {
  readonly policies: readonly AppliedPolicy[];
  /** Policies that cannot be read, and may be meant for the pod. */
  readonly unreadable: readonly AppliedPolicy<UnreadablePolicy>[];
}

/** Finds the policies of one interface, sorted by kind and name. A policy selects pods of its own namespace only. */
export function appliedPolicies(
  all: Iterable<Policy | UnreadablePolicy>,
  pod: Pick<PolicyPod, "namespace" | "labels">,
  link: PodInterface,
): AppliedPolicies {
  const policies: AppliedPolicy[] = [];
  const unreadable: AppliedPolicy<UnreadablePolicy>[] = [];
  for (const policy of all) {
    const network = policy.namespace === pod.namespace ? networkOf(policy, link) : undefined;
    if (network === undefined) continue;
    if ("problem" in policy) unreadable.push({ policy, network });
    else if (selects(policy.pods, pod.labels)) policies.push({ policy, network });
  }
  return { policies: policies.toSorted(byName), unreadable: unreadable.toSorted(byName) };
}

function networkOf(policy: Policy | UnreadablePolicy, link: PodInterface): string | undefined {
  const isForAny = "isForAny" in policy;
  return link.networks.find((each) => isForAny || policy.networks.includes(each));
}

function byName(
  { policy: one }: AppliedPolicy<Policy | UnreadablePolicy>,
  { policy: other }: AppliedPolicy<Policy | UnreadablePolicy>,
): number {
  const [left, right] = [`${one.kind} ${one.name}`, `${other.kind} ${other.name}`];
  return left < right ? -1 : left > right ? 1 : 0;
}
