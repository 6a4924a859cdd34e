// Which annotations are worth keeping of objects that are held in memory by the thousand.

import { networkStatusAnnotation } from "./network-status.ts";

/** Every annotation that Plexus reads begins so; others may be as long as an object can be. */
const prefixes = ["k8s.v1.cni.cncf.io/", "v1.multus-cni.io/", "plexus-cni.dev/", "kubernetes.io/config."];

/** The long one that Plexus itself writes, and the name that Multus had for it. */
const written: readonly string[] = [networkStatusAnnotation, "k8s.v1.cni.cncf.io/networks-status"];

/** The annotations that may matter to an attachment. */
export function keptAnnotations(annotations: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return new Map([...annotations].filter(([key]) => !written.includes(key) && prefixes.some((prefix) => key.startsWith(prefix))));
}
