// Writes the Services of a pod's networks into its network namespace: in the ADD before the first step, and after changes.

import { fault, type Fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import type { Cluster } from "../../../host/cluster/cluster.ts";
import { guardingOf } from "../../../host/engine/planned/feature-hooks.ts";
import type { GuardContext, GuardedPod, Guarding } from "../../../host/engine/planned/plan-feature.ts";
import { RecentValues } from "../../../host/node/running-pods/recent-values.ts";
import { type Balance, balance, balanceBounds, type KeptSlice } from "../rules/balance.ts";
import { flushFlows } from "./flush-flows.ts";
import { networkIds } from "./pod-networks.ts";
import { replaceTable } from "./pod-table.ts";
import { noteTable, portsHash, unknownHash, writtenTable } from "./served-pods.ts";
import { serviceObjects } from "./service-objects.ts";

/** The balanced ports of one namespace's pods on the same networks, compiled once for all of these pods. An entry's size is its number of endpoints. */
const balances = new RecentValues<Balance & { readonly hash: string }>(16, 4 * balanceBounds.backends, ({ ports }) =>
  ports.reduce((sum, { backends }) => sum + 1 + backends.length, 1),
);

/** Before interfaces are made. A failure is a warning: the pod starts, and gets its Services when the daemon can write them. */
export async function guardPod(context: GuardContext, pod: GuardedPod): Promise<Result<Guarding>> {
  return ok(guardingOf(serve(context, pod)));
}

async function serve(context: GuardContext, pod: GuardedPod): Promise<Result<void>> {
  const served = await servePod(context, pod, false);
  if (!served.ok) context.warn(`pod ${pod.pod.namespace}/${pod.pod.name} starts without its Services: ${served.fault.msg}`);
  return ok(undefined);
}

/** Brings the pod's table up to date. `anew`: writes it whatever was written before, so that changes by the pod are undone. Fault SERVICES_FAILED. */
export async function servePod(context: GuardContext, guarded: GuardedPod, anew: boolean): Promise<Result<void>> {
  const { containerId, netns, pod, cluster, interfaces } = guarded;
  const networks = networkIds(interfaces);
  const before = writtenTable(containerId, netns);
  // An earlier daemon may have written a table that this one does not know.
  if (networks.length === 0 && before === undefined && !anew) return ok(undefined);
  const slices = networks.length === 0 ? ok([]) : await slicesOf(cluster, networks);
  if (!slices.ok) return failed(servicesFault(slices.fault.msg));
  const { ports, left, leftNames, hash } = balances.of(pod.namespace, slices.value, () => {
    const made = balance(slices.value, pod.namespace);
    return { ...made, hash: portsHash(made.ports) };
  });
  if (left > 0) {
    const names = `${leftNames.join(", ")}${left > leftNames.length ? ` and ${left - leftNames.length} others` : ""}`;
    const bounds = `${balanceBounds.ports} ports and ${balanceBounds.backends} endpoints`;
    context.warn(
      `pod ${pod.namespace}/${pod.name} does not reach these ports of Services: ${names}; Plexus allows ${bounds} for a pod`,
    );
  }
  const isSame = before === undefined ? ports.length === 0 : before.hash === hash;
  if (isSame && !anew) return ok(undefined);
  const written = await replaceTable(context.shim, netns, ports, before === undefined);
  // After a failure the kernel may have either table: the next try writes whatever is wanted then.
  noteTable(containerId, written.ok ? { netns, ports, hash } : { netns, ports: before?.ports ?? [], hash: unknownHash });
  if (!written.ok) return failed(servicesFault(`network namespace of pod ${pod.namespace}/${pod.name}: ${written.fault.msg}`));
  await flushFlows(context.shim, netns, before?.ports ?? [], ports);
  return written;
}

async function slicesOf(cluster: Cluster, networks: readonly string[]): Promise<Result<readonly KeptSlice[]>> {
  const source = await cluster.objects?.(serviceObjects);
  return source === undefined
    ? failed(fault("SERVICES_FAILED", "a directory of manifests has no Services; set kubeconfig instead of manifests"))
    : source.slices(networks);
}

function servicesFault(why: string): Fault {
  return fault("SERVICES_FAILED", `services: ${why}`);
}
