// Kubernetes Events about a pod's networks: those with the reasons that users of Multus look for (MA-06), of ADD and of changes of running pods, the
// reconciler's, those of rules for steps, those of lost links, and those of policies and Services
// that could not be applied.

import type { Pod } from "../npwg/pod.ts";
import { eventText } from "./event.ts";

/** The content of an Event about a pod. */
export interface PodEvent {
  readonly reason:
    | "AddedInterface"
    | "RemovedInterface"
    | "InterfaceAddFailed"
    | "InterfaceRemoveFailed"
    | "NoNetworkFound"
    | "StaleAttachmentRemoved"
    | "StaleAttachmentLeft"
    | "StepPassedOver"
    | "AddressConflict"
    | "InterfaceLost"
    | "InterfaceRecovered"
    | "InterfaceRepaired"
    | "InterfaceRepairFailed"
    | "PoliciesNotApplied"
    | "PoliciesAtNodeOnly"
    | "PoliciesInPodOnly"
    | "ServicesNotApplied";
  readonly message: string;
}

const warnings: readonly PodEvent["reason"][] = [
  "InterfaceAddFailed",
  "InterfaceRemoveFailed",
  "NoNetworkFound",
  "StaleAttachmentLeft",
  "StepPassedOver",
  "AddressConflict",
  "InterfaceLost",
  "InterfaceRepairFailed",
  "PoliciesNotApplied",
  "PoliciesAtNodeOnly",
  "PoliciesInPodOnly",
  "ServicesNotApplied",
];

/** The Event object as JSON; see `eventText`. */
export function podEvent(pod: Pod, { reason, message }: PodEvent, at: Date, hash: (text: string) => string): string {
  const involved = { kind: "Pod", eventNamespace: pod.namespace, name: pod.name, uid: pod.uid } as const;
  return eventText(involved, { reason, message, type: warnings.includes(reason) ? "Warning" : "Normal" }, at, hash);
}
