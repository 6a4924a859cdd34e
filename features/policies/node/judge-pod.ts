// Judges echo requests by the policies that a pod has now, whatever its table in the kernel has.

import { ok } from "../../../src/fault/result.ts";
import type { FollowPods } from "../../../host/node/running-pods/follow-pods.ts";
import type { JudgeEchoes } from "../../../src/kube/packet-judge.ts";
import { forbiddingPolicies } from "../rules/judge-echo.ts";
import type { PolicyTable } from "../rules/table.ts";
import { decideTable } from "./decide-table.ts";

/** The judge. A pod whose configuration has no policies is forbidden nothing. Faults: POLICY_FAILED, and those of `FollowPods.look`. */
export function policyJudge(follow: FollowPods): JudgeEchoes {
  return async ({ pod, netns }, echoes) => {
    let table: PolicyTable | undefined;
    const looked = await follow.look(pod, async (call, guarded) => {
      if (guarded.netns !== netns) return ok(undefined);
      const decided = await decideTable(call, guarded);
      if (!decided.ok) return decided;
      table = decided.value;
      return ok(undefined);
    });
    if (!looked.ok) return looked;
    const own = table;
    const namespace = pod.slice(0, pod.indexOf("/"));
    return ok(echoes.map((echo) => (own === undefined ? [] : forbiddingPolicies(own, namespace, echo))));
  };
}
