// Publishes the pod's network status in its annotation (NPWG 5).

import { ok, type Result } from "../../../src/fault/result.ts";
import { networkStatus } from "../../../src/npwg/network-status.ts";
import type { PodEvent } from "../../../src/kube/pod-event.ts";
import type { NpwgProfile } from "../../../src/npwg/profile.ts";
import type { Cluster, Pod } from "../../cluster/cluster.ts";
import type { Attached, PlannedPod, ShownAttachment } from "../planned/attachment-plan.ts";
import { featureAnnotations } from "../planned/feature-hooks.ts";
import type { PlanFeature } from "../planned/plan-feature.ts";

/** Publishes the status of all attachments, and an event for each. Does nothing for a call without a pod of the cluster. */
export async function publishStatus(
  planned: PlannedPod | undefined,
  attached: readonly Attached[],
  features: readonly PlanFeature[],
): Promise<Result<void>> {
  if (planned === undefined) return ok(undefined);
  const { cluster, pod, profile } = planned;
  const published = await writeStatus(cluster, pod, attached.map(shown), profile, features);
  if (published.ok) for (const event of attached.map(addedInterface)) cluster.tell(pod, event);
  return published;
}

/** Writes the statuses of all attachments into the pod's annotations; the first attachment is the default network's. */
export async function writeStatus(
  cluster: Cluster,
  pod: Pod,
  attachments: readonly ShownAttachment[],
  profile: NpwgProfile,
  features: readonly PlanFeature[],
): Promise<Result<void>> {
  const outcomes = attachments.flatMap(({ statusName, ...each }, index) =>
    statusName === undefined ? [] : [{ ...each, network: statusName, isDefault: index === 0 }],
  );
  const status = networkStatus(outcomes, profile);
  if (!status.ok) return status;
  return cluster.publishStatus(pod, status.value, await featureAnnotations(features, attachments));
}

function shown({ plan, result, deviceInfo }: Attached): ShownAttachment {
  const { statusName, attachment, podNetwork, request } = plan;
  const { defaultRoute, defaultRouteFamilies: gatewayOf } = request?.selection ?? {};
  return { ifname: attachment.ifname, result: result.result, statusName, defaultRoute, deviceInfo, podNetwork, gatewayOf };
}

/** The event of one attachment, with the reason and wording of Multus, because users' tools look for them (MA-06). */
export function addedInterface({ plan, result }: Attached): PodEvent {
  const ips = result.result.ips.map(({ address }) => address);
  const network = plan.request === undefined ? plan.list.name : plan.source;
  return { reason: "AddedInterface", message: `Add ${plan.attachment.ifname} [${ips.join(" ")}] from ${network}` };
}
