// Kubernetes Events about a pod's networks, with the reasons that Multus' users look for (MA-06), and the reconciler's own.

import type { Pod } from "../npwg/pod.ts";

export interface PodEvent {
  readonly reason: "AddedInterface" | "NoNetworkFound" | "StaleAttachmentRemoved" | "StaleAttachmentLeft";
  readonly message: string;
}

const warnings: readonly PodEvent["reason"][] = ["NoNetworkFound", "StaleAttachmentLeft"];

/** What kubectl shows in full; the API allows 1024 characters. */
const longestMessage = 1_000;

/** Seconds in which the same event of a pod is told once. */
const window = 60;

/**
 * The Event object as JSON. Its name is made of what it says and of the minute: a call that is repeated again and again can't
 * fill the cluster with events, because the API server has the one of this minute already. `hash` makes a short name.
 */
export function podEvent(pod: Pod, { reason, message }: PodEvent, at: Date, hash: (text: string) => string): string {
  const time = `${at.toISOString().slice(0, 19)}Z`;
  const told = message.slice(0, longestMessage);
  const minute = Math.floor(at.getTime() / 1000 / window);
  const name = hash(JSON.stringify([pod.uid, reason, told, minute]));
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Event",
    // Kubernetes' bound of a name is 253 characters.
    metadata: { namespace: pod.namespace, name: `${pod.name.slice(0, 253 - name.length - 1).replace(/[-.]+$/, "")}.${name}` },
    involvedObject: { apiVersion: "v1", kind: "Pod", namespace: pod.namespace, name: pod.name, uid: pod.uid },
    reason,
    message: told,
    type: warnings.includes(reason) ? "Warning" : "Normal",
    source: { component: "plexus" },
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
  });
}
