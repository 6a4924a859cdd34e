// Publishes the pod's network status in its annotation (NPWG 5).

import { ok, type Result } from "../../../src/fault/result.ts";
import { networkStatus } from "../../../src/npwg/network-status.ts";
import type { PodEvent } from "../../../src/kube/pod-event.ts";
import type { NpwgProfile } from "../../../src/npwg/profile.ts";
import {
  type PodNetworkOutcome,
  podNetworkStatusAnnotation,
  podNetworkStatusText,
} from "../../../src/podnetwork/network-status.ts";
import type { Cluster, Pod } from "../../cluster/cluster.ts";
import type { Attached } from "../plan/attachment-plan.ts";

/** Publishes the status of all attachments, and an event for each. Does nothing for a call without a pod of the cluster. */
export async function publishStatus(
  cluster: Cluster | undefined,
  pod: Pod | undefined,
  attached: readonly Attached[],
  profile: NpwgProfile,
): Promise<Result<void>> {
  if (cluster === undefined || pod === undefined) return ok(undefined);
  const outcomes = attached.flatMap(({ plan, result, deviceInfo }, index) => {
    if (plan.statusName === undefined) return [];
    return [
      {
        network: plan.statusName,
        ifname: plan.attachment.ifname,
        isDefault: index === 0,
        result: result.result,
        defaultRoute: plan.request?.selection.defaultRoute,
        deviceInfo,
      },
    ];
  });
  const status = networkStatus(outcomes, profile);
  if (!status.ok) return status;
  const networks = podNetworkStatusText(attached.flatMap(podNetworkOutcome));
  const further = networks === undefined ? {} : { [podNetworkStatusAnnotation]: networks };
  const published = await cluster.publishStatus(pod, status.value, further);
  if (published.ok) for (const event of attached.map(addedInterface)) cluster.tell(pod, event);
  return published;
}

function podNetworkOutcome({ plan, result }: Attached, index: number): readonly PodNetworkOutcome[] {
  const { podNetwork, attachment, request } = plan;
  if (podNetwork === undefined) return [];
  const { defaultRoute, defaultRouteFamilies = [] } = request?.selection ?? {};
  const gatewayOf = defaultRoute === undefined ? [] : defaultRouteFamilies;
  return [{ podNetwork, ifname: attachment.ifname, gatewayOf, isPrimary: index === 0, result: result.result }];
}

/** The event of one attachment, with the reason and wording of Multus, because users' tools look for them (MA-06). */
function addedInterface({ plan, result }: Attached): PodEvent {
  const ips = result.result.ips.map(({ address }) => address);
  const network = plan.request === undefined ? plan.list.name : plan.source;
  return { reason: "AddedInterface", message: `Add ${plan.attachment.ifname} [${ips.join(" ")}] from ${network}` };
}
