// The tables of running pods: written after a change of a policy, of its peers, or of a pod's labels.

import type { FollowedWork } from "../../host/node/running-pods/follow-pods.ts";
import { refreshPolicies } from "./node/guard-pod.ts";
import { keepEnds } from "./node/guarded-ends.ts";
import { endKnownRound, keepTables } from "./node/guarded-pods.ts";
import { beginPolicyRound, onPolicyChange } from "./policy-changes.ts";

/** The work. A change is that of a namespace; undefined: of all. */
export const followPolicies: FollowedWork = {
  name: "policies",
  isOn: ({ policies }) => policies !== undefined,
  noAgent: "POLICY_FAILED",
  failureReason: "PoliciesNotApplied",
  apply: refreshPolicies,
  onChange: onPolicyChange,
  isConcerned: (pod, _, namespaces) => namespaces.has(undefined) || namespaces.has(pod.slice(0, pod.indexOf("/"))),
  followsLabels: true,
  onRound: beginPolicyRound,
  onContainers(containers) {
    keepTables(containers);
    keepEnds(containers);
  },
  onRoundEnd: endKnownRound,
};
