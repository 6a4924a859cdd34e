// Kubernetes Events about a pod's networks: those with the reasons that users of Multus look for (MA-06), of ADD and of changes of running pods, the
// reconciler's, those of rules for steps, those of lost links, and those of policies and Services
// that could not be applied.

import type { EventContent, InvolvedObject } from "./event.ts";

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

/** The identity of a pod that gets an Event. */
export interface EventPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid?: string | undefined;
}

/** The pod as the object of an Event. */
export function involvedPod({ namespace, name, uid }: EventPod): InvolvedObject {
  return { kind: "Pod", eventNamespace: namespace, name, uid };
}

/** The content with the type that belongs to the reason. */
export function podEventContent({ reason, message }: PodEvent): EventContent {
  return { reason, message, type: warnings.includes(reason) ? "Warning" : "Normal" };
}
