// Kubernetes Event objects.

import { inertLine } from "../text/inert-text.ts";

/** The object that an Event is about. */
export interface InvolvedObject {
  /** `Pod`, `Node`, or the kind of a custom resource. */
  readonly kind: string;
  /** `v1` by default. */
  readonly apiVersion?: string;
  /** The namespace of the Event: the object's, or `default` for a cluster-scoped object, as the kubelet does for a node. */
  readonly eventNamespace: string;
  readonly name: string;
  readonly uid: string | undefined;
  /** Whether the object has no namespace. A Node never has one. */
  readonly clusterScoped?: boolean;
}

/** The content of an Event. */
export interface EventContent {
  readonly reason: string;
  readonly message: string;
  readonly type: "Normal" | "Warning";
}

/** kubectl shows this length in full; the API allows 1024 characters. */
const maxMessageLength = 1_000;

/** Seconds in which the same event of an object is sent only once. */
const windowSeconds = 60;

/**
 * The Event object as JSON. Its name is a hash of its content and of the minute, so that an endlessly repeated call cannot fill
 * the cluster with events: the API server already has this minute's event. `hash` makes a short name.
 */
export function eventText(
  { kind, apiVersion = "v1", eventNamespace, name, uid, clusterScoped = kind === "Node" }: InvolvedObject,
  { reason, message, type }: EventContent,
  at: Date,
  hash: (text: string) => string,
): string {
  const time = `${at.toISOString().slice(0, 19)}Z`;
  // kubectl prints the message as it is.
  const shortMessage = inertLine(message, maxMessageLength - "…".length);
  const minute = Math.floor(at.getTime() / 1000 / windowSeconds);
  const unique = hash(JSON.stringify([uid, reason, shortMessage, minute]));
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Event",
    // Kubernetes allows 253 characters in a name.
    metadata: { namespace: eventNamespace, name: `${name.slice(0, 253 - unique.length - 1).replace(/[-.]+$/, "")}.${unique}` },
    involvedObject: { apiVersion, kind, ...(clusterScoped ? {} : { namespace: eventNamespace }), name, uid },
    reason,
    message: shortMessage,
    type,
    source: { component: "plexus" },
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
  });
}

/** The path to which Events of a namespace are posted. */
export function eventsPath(namespace: string): string {
  return `/api/v1/namespaces/${namespace}/events`;
}

/** The node as the object of an Event. kubectl describe finds the Events of a node by its name as their uid. */
export function involvedNode(name: string): InvolvedObject {
  return { kind: "Node", eventNamespace: "default", name, uid: name };
}
