// Writes the Services of a pod's networks into its network namespace: in the ADD before the first step, and after changes.

import { fault, type Fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import type { GuardContext, GuardedPod } from "../../../host/engine/planned/plan-feature.ts";
import { balance, balanceText } from "../rules/balance.ts";
import { flushFlows } from "./flush-flows.ts";
import { networkIds } from "./pod-networks.ts";
import { replaceTable } from "./pod-table.ts";
import { noteTable, writtenTable } from "./served-pods.ts";
import { serviceObjects } from "./service-objects.ts";

/** Before interfaces are made. A failure is a warning: the pod starts, and gets its Services when the daemon can write them. */
export async function guardPod(context: GuardContext, pod: GuardedPod): Promise<Result<void>> {
  const served = await servePod(context, pod, false);
  if (!served.ok) context.warn(`pod ${pod.pod.namespace}/${pod.pod.name} starts without its Services: ${served.fault.msg}`);
  return ok(undefined);
}

/** Brings the pod's table up to date. `anew`: writes it whatever was written before, so that changes by the pod are undone. Fault SERVICES_FAILED. */
export async function servePod(context: GuardContext, guarded: GuardedPod, anew: boolean): Promise<Result<void>> {
  const { containerId, netns, pod, cluster, interfaces } = guarded;
  const networks = networkIds(interfaces);
  const before = writtenTable(containerId, netns);
  if (networks.length === 0 && before === undefined) return ok(undefined);
  const source = await cluster.objects?.(serviceObjects);
  if (source === undefined)
    return failed(servicesFault("a directory of manifests has no Services; set kubeconfig instead of manifests"));
  const slices = networks.length === 0 ? ok([]) : await source.slices(networks);
  if (!slices.ok) return failed(servicesFault(slices.fault.msg));
  const { ports, left } = balance(slices.value);
  if (left > 0) context.warn(`pod ${pod.namespace}/${pod.name}: ${left} ports of Services are beyond the bounds of a pod`);
  const isSame = before === undefined ? ports.length === 0 : balanceText(before.ports) === balanceText(ports);
  if (isSame && !anew) return ok(undefined);
  const written = await replaceTable(context.shim, netns, ports);
  noteTable(containerId, written.ok ? { netns, ports } : undefined);
  if (!written.ok) return failed(servicesFault(`network namespace of pod ${pod.namespace}/${pod.name}: ${written.fault.msg}`));
  await flushFlows(context.shim, netns, before?.ports ?? [], ports);
  return written;
}

function servicesFault(why: string): Fault {
  return fault("SERVICES_FAILED", `services: ${why}`);
}
