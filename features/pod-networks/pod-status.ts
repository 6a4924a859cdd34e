// The status of a pod's PodNetworks, in an annotation of the pod.

import type { ShownAttachment } from "../../host/engine/planned/attachment-plan.ts";
import { type PodNetworkOutcome, podNetworkStatusAnnotation, podNetworkStatusText } from "./rules/network-status.ts";

/** The annotation. */
export function podNetworkAnnotations(attachments: readonly ShownAttachment[]): Readonly<Record<string, string>> {
  const networks = podNetworkStatusText(attachments.flatMap(podNetworkOutcome));
  return networks === undefined ? {} : { [podNetworkStatusAnnotation]: networks };
}

function podNetworkOutcome(
  { podNetwork, ifname, defaultRoute, gatewayOf = [], result }: ShownAttachment,
  index: number,
): readonly PodNetworkOutcome[] {
  if (podNetwork === undefined) return [];
  return [{ podNetwork, ifname, gatewayOf: defaultRoute === undefined ? [] : gatewayOf, isPrimary: index === 0, result }];
}
