// Writes a pod's policies into its network namespace: in the ADD before the first step of a further network, before a hot-plugged interface is made, and after changes.

import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { guardingOf } from "../../../host/engine/planned/feature-hooks.ts";
import type { GuardContext, GuardedPod, Guarding } from "../../../host/engine/planned/plan-feature.ts";
import type { Shortfall } from "../../../src/kube/pod-shortfall.ts";
import { policyShortfall } from "../rules/held-policies.ts";
import { decideTable, policyFault } from "./decide-table.ts";
import { writtenEnds } from "./guarded-ends.ts";
import { noteTable, type WrittenTable, writtenTable } from "./guarded-pods.ts";
import { secureEnds } from "./secure-pod.ts";
import { changeTable, makeTable, replaceTable } from "./pod-table.ts";
import type { PolicyTable } from "../rules/table.ts";
import { unfilteredIngress } from "../rules/unfiltered-ingress.ts";

/**
 * Before interfaces are made: with `failure: open` a failure is a warning, and the pod starts with the table that it has. Fault POLICY_FAILED: the policies
 * cannot be read, or would not hold on an interface.
 */
export async function guardPod(context: GuardContext, pod: GuardedPod): Promise<Result<Guarding>> {
  const table = await decideTable(context, pod);
  const unfiltered = table.ok ? unfilteredIngress(pod.interfaces, table.value) : undefined;
  if (unfiltered !== undefined) {
    const why = policyFault(`pod ${pod.pod.namespace}/${pod.pod.name}: ${unfiltered}`);
    const tolerated = toleratedIn(context, pod, failed(why));
    if (!tolerated.ok) return tolerated;
  }
  const inForce = table.ok
    ? writePod(context, pod, table.value, true).then((written) => toleratedIn(context, pod, written))
    : Promise.resolve(toleratedIn(context, pod, table));
  const guarding = guardingOf(inForce);
  if (table.ok) return ok(guarding);
  const tolerated = await inForce;
  return tolerated.ok ? ok(guarding) : tolerated;
}

function toleratedIn(context: GuardContext, pod: GuardedPod, applied: Result<unknown>): Result<void> {
  if (applied.ok) return ok(undefined);
  if (context.configuration.policies?.failure !== "open") return applied;
  const isAtNode = context.configuration.policies.enforceAt === "node";
  const without = isAtNode ? "without its own table of policies" : "without its policies";
  context.warn(`pod ${pod.pod.namespace}/${pod.pod.name} starts ${without} (policies.failure is open): ${applied.fault.msg}`);
  return ok(undefined);
}

/**
 * Brings the tables of a running pod up to date, at the node's ends and in the pod: neither waits for the other. `anew`: writes whole tables, whatever was written
 * before, so that changes by the pod are undone. Answers the place where the policies could not be written. Fault POLICY_FAILED: the policies could not be read.
 */
export async function refreshPolicies(
  context: GuardContext,
  guarded: GuardedPod,
  anew: boolean,
): Promise<Result<Shortfall | undefined>> {
  const table = await decideTable(context, guarded);
  if (!table.ok) return table;
  const secured = await secureEnds(context, guarded, table.value, anew);
  const applied = await writePod(context, guarded, table.value, anew);
  const unfiltered = unfilteredIngress(guarded.interfaces, table.value);
  if (unfiltered !== undefined) return ok({ reason: "PoliciesNotApplied", message: unfiltered, isWhole: false });
  const shortfall = policyShortfall({
    table: table.value,
    ends: writtenEnds(guarded.containerId, guarded.netns)?.table,
    isAtNode: context.configuration.policies?.enforceAt === "node",
    podProblem: applied.ok ? undefined : applied.fault.msg,
    endProblem: secured.ok ? undefined : secured.fault.msg,
  });
  return ok(shortfall);
}

async function writePod(
  { shim }: GuardContext,
  { containerId, netns, pod }: GuardedPod,
  table: PolicyTable | undefined,
  anew: boolean,
): Promise<Result<void>> {
  const before = writtenTable(containerId, netns);
  const written = await write(shim, netns, before, table, anew);
  noteTable(containerId, written.ok ? { netns, table } : undefined);
  if (written.ok) return written;
  return failed(policyFault(`network namespace of pod ${pod.namespace}/${pod.name}: ${written.fault.msg}`));
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
