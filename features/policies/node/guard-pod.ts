// Writes a pod's policies into its network namespace: in the ADD before the first step, before a hot-plugged interface is made, and after changes.

import { failed, ok, type Result } from "../../../src/fault/result.ts";
import type { GuardContext, GuardedPod } from "../../../host/engine/planned/plan-feature.ts";
import { decideTable, policyFault } from "./decide-table.ts";
import { noteTable, type WrittenTable, writtenTable } from "./guarded-pods.ts";
import { changeTable, makeTable, replaceTable } from "./pod-table.ts";
import type { PolicyTable } from "../rules/table.ts";

/** Before interfaces are made: with `failure: open` a failure is a warning, and the pod starts with the table that it has. Fault POLICY_FAILED. */
export async function guardPod(context: GuardContext, pod: GuardedPod): Promise<Result<void>> {
  const applied = await applyPolicies(context, pod, true);
  if (applied.ok || context.configuration.policies?.failure !== "open") return applied;
  context.warn(
    `pod ${pod.pod.namespace}/${pod.pod.name} starts without its policies (policies.failure is open): ${applied.fault.msg}`,
  );
  return ok(undefined);
}

/**
 * Brings the pod's table up to date. `anew`: writes the whole table, whatever was written before, so that changes by the pod are undone. A failure leaves
 * the table as it is. Fault POLICY_FAILED.
 */
export async function applyPolicies(context: GuardContext, guarded: GuardedPod, anew: boolean): Promise<Result<void>> {
  const { containerId, netns } = guarded;
  const table = await decideTable(context, guarded);
  if (!table.ok) return table;
  const before = writtenTable(containerId, netns);
  const written = await write(context.shim, netns, before, table.value, anew);
  noteTable(containerId, written.ok ? { netns, table: table.value } : undefined);
  if (written.ok) return written;
  return failed(policyFault(`network namespace of pod ${guarded.pod.namespace}/${guarded.pod.name}: ${written.fault.msg}`));
}

/** `before`: what is known to be in the kernel; undefined for a pod that this process has not written for. */
function write(
  shim: GuardContext["shim"],
  netns: string,
  before: WrittenTable | undefined,
  table: PolicyTable | undefined,
  anew: boolean,
): Promise<Result<void>> {
  if (before === undefined && table !== undefined) return makeTable(shim, netns, table);
  return anew || before === undefined ? replaceTable(shim, netns, table) : changeTable(shim, netns, before.table, table);
}
