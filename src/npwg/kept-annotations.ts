// Selects the annotations to keep of objects that are held in memory by the thousand.

import { networkStatusAnnotation } from "./network-status.ts";

/** Prefixes of all annotations that Plexus reads. Other annotations may be as long as an object can be. */
const prefixes = [
  "k8s.v1.cni.cncf.io/",
  "v1.multus-cni.io/",
  "plexus-cni.dev/",
  "plexus.dev/networks",
  "plexus.dev/external-port",
  "openstack.org/kuryr-config",
  "kubernetes.io/config.",
];

/** The long annotation that Plexus itself writes, under its current name and Multus' former name. */
const written: readonly string[] = [networkStatusAnnotation, "k8s.v1.cni.cncf.io/networks-status"];

/** The annotations that may matter to an attachment. */
export function keptAnnotations(annotations: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return new Map([...annotations].filter(([key]) => !written.includes(key) && prefixes.some((prefix) => key.startsWith(prefix))));
}
