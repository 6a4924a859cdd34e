// Plexus' own keys and annotations. The specification reserves all keys without a period and requires reverse domain names for
// extensions (4.1.2.1, 5.3).

/** Selection: the default routes of one address family, while another element has those of the other family (D-08). */
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
