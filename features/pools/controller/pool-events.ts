// An AddressPool as the object of Events, and the form of times in statuses.

import { poolApiVersion } from "../rules/object-reading.ts";
import type { InvolvedObject } from "../../../src/kube/event.ts";

/** A pool as the object of an Event. */
export function poolTarget(name: string, uid: string): InvolvedObject {
  return { kind: "AddressPool", apiVersion: poolApiVersion, eventNamespace: "default", clusterScoped: true, name, uid };
}

/** A time in RFC 3339, in seconds. */
export function rfc3339(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`;
}
