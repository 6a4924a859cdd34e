// The ports of outer fabrics in the plan of an ADD: all of a pod's ports are ready before the first plugin runs (KU-20, KU-21). Plugins get a port by CNI's
// own means for dynamic data, as the capability argument `externalPort`, and its addresses as `ips` and `mac` (CONVENTIONS.md).

import { externalPortName } from "./rules/external-port.ts";
import type { ProvidedPort } from "./rules/provided-port.ts";
import { fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import type { Cluster, Pod } from "../../host/cluster/cluster.ts";
import type { AttachmentPlan } from "../../host/engine/plan/attachment-plan.ts";

/** The capability of plugins that take a whole port. */
const portCapability = "externalPort";

/** One planned attachment, and its position in the pod's selection; undefined if it is not from there. */
export interface SelectedPlan {
  readonly plan: AttachmentPlan;
  readonly index: number | undefined;
}

/**
 * The attachments with their ports, which are awaited side by side. Faults: EXTERNAL_PORT_NOT_READY, EXTERNAL_PORT_REFUSED, NETWORK_INVALID if no plugin
 * of the network takes the port; those of the API.
 */
export async function withExternalPorts(
  cluster: Pick<Cluster, "externalPorts"> | undefined,
  pod: Pod | undefined,
  plans: readonly SelectedPlan[],
): Promise<Result<readonly AttachmentPlan[]>> {
  const ready = await Promise.all(plans.map((each) => withPort(cluster, pod, each)));
  const attachments: AttachmentPlan[] = [];
  for (const plan of ready) {
    if (!plan.ok) return plan;
    attachments.push(plan.value);
  }
  return ok(attachments);
}

async function withPort(
  cluster: Pick<Cluster, "externalPorts"> | undefined,
  pod: Pod | undefined,
  { plan, index }: SelectedPlan,
): Promise<Result<AttachmentPlan>> {
  const { externalPort: provider, source, list } = plan;
  if (provider === undefined) return ok(plan);
  const network = `network ${source} has ports of provider "${provider}"`;
  if (index === undefined) {
    return failed(fault("NETWORK_INVALID", `${network}, so only the annotation k8s.v1.cni.cncf.io/networks can select it`));
  }
  const declared = new Set(list.plugins.flatMap(({ capabilities }) => capabilities));
  if (![portCapability, "mac", "ips"].some((each) => declared.has(each))) {
    return failed(fault("NETWORK_INVALID", `${network}, but no plugin of it has "capabilities": {"${portCapability}": true}`));
  }
  const ports = cluster?.externalPorts;
  if (ports === undefined || pod?.uid === undefined) {
    return failed(fault("EXTERNAL_PORT_NOT_READY", `${network}, which need the Kubernetes API and the pod's UID`));
  }
  const use = { podUid: pod.uid, definition: source, provider };
  const port = await ports.ready(pod.namespace, externalPortName(pod.uid, index), use);
  if (!port.ok) return port;
  const capabilityArgs = new Map([...plan.attachment.capabilityArgs, ...argsOf(port.value, declared)]);
  return ok({ ...plan, attachment: { ...plan.attachment, capabilityArgs } });
}

function argsOf(port: ProvidedPort, declared: ReadonlySet<string>): readonly (readonly [string, string])[] {
  const { mac, addresses } = port;
  const values = { [portCapability]: port, mac, ips: addresses.map(({ address }) => address) };
  return Object.entries(values).flatMap(([key, value]) => (declared.has(key) ? [[key, JSON.stringify(value)] as const] : []));
}
