// Selects the annotations to keep of objects that are held in memory by the thousand.

import { defaultNetworksAnnotation, verifyAnnotation } from "./extension-keys.ts";
import { networkStatusAnnotation } from "./network-status.ts";

/**
 * The annotations that Plexus reads, by their names or their prefixes. `plexus.dev/` itself is no prefix: Plexus writes long annotations of its
 * own, such as `plexus.dev/network-status`.
 */
const prefixes = [
  "k8s.v1.cni.cncf.io/",
  "v1.multus-cni.io/",
  defaultNetworksAnnotation,
  verifyAnnotation,
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
