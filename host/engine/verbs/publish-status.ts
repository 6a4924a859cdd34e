// Publishes the pod's network status in its annotation (NPWG 5).

import { ok, type Result } from "../../../src/fault/result.ts";
import type { CniResult } from "../../../src/cni/result.ts";
import type { Family } from "../../../src/net/ip.ts";
import type { DeviceInfo } from "../../../src/npwg/device-info.ts";
import { networkStatus } from "../../../src/npwg/network-status.ts";
import type { PodEvent } from "../../../src/kube/pod-event.ts";
import type { NpwgProfile } from "../../../src/npwg/profile.ts";
import {
  type PodNetworkOutcome,
  podNetworkStatusAnnotation,
  podNetworkStatusText,
} from "../../../src/podnetwork/network-status.ts";
import type { Cluster, Pod } from "../../cluster/cluster.ts";
import type { Attached, PlannedPod } from "../plan/attachment-plan.ts";

/** An attachment as the network statuses show it. */
export interface ShownAttachment {
  readonly ifname: string;
  readonly result: CniResult;
  /** The name in the network status; undefined if the status has no entry for it. */
  readonly statusName: string | undefined;
  /** The selection's `default-route`. */
  readonly defaultRoute: readonly string[] | undefined;
  readonly deviceInfo: DeviceInfo | undefined;
  readonly podNetwork: string | undefined;
  /** The families whose default gateway the pod requested from its PodNetwork. */
  readonly gatewayOf: readonly Family[] | undefined;
}

/** Publishes the status of all attachments, and an event for each. Does nothing for a call without a pod of the cluster. */
export async function publishStatus(planned: PlannedPod | undefined, attached: readonly Attached[]): Promise<Result<void>> {
  if (planned === undefined) return ok(undefined);
  const { cluster, pod, profile } = planned;
  const published = await writeStatus(cluster, pod, attached.map(shown), profile);
  if (published.ok) for (const event of attached.map(addedInterface)) cluster.tell(pod, event);
  return published;
}

/** Writes the statuses of all attachments into the pod's annotations; the first attachment is the default network's. */
export async function writeStatus(
  cluster: Pick<Cluster, "publishStatus">,
  pod: Pod,
  attachments: readonly ShownAttachment[],
  profile: NpwgProfile,
): Promise<Result<void>> {
  const outcomes = attachments.flatMap(({ statusName, ...each }, index) =>
    statusName === undefined ? [] : [{ ...each, network: statusName, isDefault: index === 0 }],
  );
  const status = networkStatus(outcomes, profile);
  if (!status.ok) return status;
  const networks = podNetworkStatusText(attachments.flatMap(podNetworkOutcome));
  const further = networks === undefined ? {} : { [podNetworkStatusAnnotation]: networks };
  return cluster.publishStatus(pod, status.value, further);
}

function shown({ plan, result, deviceInfo }: Attached): ShownAttachment {
  const { statusName, attachment, podNetwork, request } = plan;
  const { defaultRoute, defaultRouteFamilies: gatewayOf } = request?.selection ?? {};
  return { ifname: attachment.ifname, result: result.result, statusName, defaultRoute, deviceInfo, podNetwork, gatewayOf };
}

function podNetworkOutcome(
  { podNetwork, ifname, defaultRoute, gatewayOf = [], result }: ShownAttachment,
  index: number,
): readonly PodNetworkOutcome[] {
  if (podNetwork === undefined) return [];
  return [{ podNetwork, ifname, gatewayOf: defaultRoute === undefined ? [] : gatewayOf, isPrimary: index === 0, result }];
}

/** The event of one attachment, with the reason and wording of Multus, because users' tools look for them (MA-06). */
export function addedInterface({ plan, result }: Pick<Attached, "plan" | "result">): PodEvent {
  const ips = result.result.ips.map(({ address }) => address);
  const network = plan.request === undefined ? plan.list.name : plan.source;
  return { reason: "AddedInterface", message: `Add ${plan.attachment.ifname} [${ips.join(" ")}] from ${network}` };
}
