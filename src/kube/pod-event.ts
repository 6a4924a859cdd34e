// Kubernetes Events about a pod's networks: those with the reasons that users of Multus look for (MA-06), and the reconciler's
// own.

import type { Pod } from "../npwg/pod.ts";

/** The content of an Event about a pod. */
export interface PodEvent {
  readonly reason: "AddedInterface" | "NoNetworkFound" | "StaleAttachmentRemoved" | "StaleAttachmentLeft";
  readonly message: string;
}

const warnings: readonly PodEvent["reason"][] = ["NoNetworkFound", "StaleAttachmentLeft"];

/** kubectl shows this length in full; the API allows 1024 characters. */
const maxMessageLength = 1_000;

/** Seconds in which the same event of a pod is sent only once. */
const windowSeconds = 60;

/**
 * The Event object as JSON. Its name is a hash of its content and of the minute, so that an endlessly repeated call cannot fill
 * the cluster with events: the API server already has this minute's event. `hash` makes a short name.
 */
export function podEvent(pod: Pod, { reason, message }: PodEvent, at: Date, hash: (text: string) => string): string {
  const time = `${at.toISOString().slice(0, 19)}Z`;
  const shortMessage = message.slice(0, maxMessageLength);
  const minute = Math.floor(at.getTime() / 1000 / windowSeconds);
  const name = hash(JSON.stringify([pod.uid, reason, shortMessage, minute]));
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Event",
    // Kubernetes allows 253 characters in a name.
    metadata: { namespace: pod.namespace, name: `${pod.name.slice(0, 253 - name.length - 1).replace(/[-.]+$/, "")}.${name}` },
    involvedObject: { apiVersion: "v1", kind: "Pod", namespace: pod.namespace, name: pod.name, uid: pod.uid },
    reason,
    message: shortMessage,
    type: warnings.includes(reason) ? "Warning" : "Normal",
    source: { component: "plexus" },
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
  });
}
