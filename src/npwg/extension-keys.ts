// Plexus' extensions of NPWG's documents. The specification reserves all keys without a period, and an extension's key begins with a reverse domain
// name (4.1.2.1, 5.3). Annotations have the domain as their prefix, as Kubernetes wants it.

/** Key of a selection element: its `default-route` holds for one address family, and another element may have the other family's (D-08). */
export const defaultRouteExtension = "dev.plexus.default-route";

/**
 * Annotation of a NetworkAttachmentDefinition: which of a pod's requests are compared with the result (D-02). A comma-separated
 * list of "ips", "mac" and "interface", or "none"; absent: all three.
 */
export const verifyAnnotation = "plexus.dev/verify";

/**
 * Annotation of a pod: "none" excludes it from the administrator's `defaultNetworks` (MC-07). All other values are refused: a pod
 * with a mistyped value must not start as if it had no annotation.
 */
export const defaultNetworksAnnotation = "plexus.dev/default-networks";
