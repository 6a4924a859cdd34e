// Keys and annotations of Plexus' own. The specification reserves every key without a period and asks implementations
// for reverse domain names (4.1.2.1, 5.3).

/** Selection: the default routes of one address family, where another element has those of the other (D-8). */
export const defaultRouteExtension = "dev.plexus-cni.default-route";

/**
 * Annotation of a NetworkAttachmentDefinition: what of a pod's requests is compared with the result (D-2). A comma list of
 * "ips", "mac" and "interface", or "none"; all three where it is absent.
 */
export const verifyAnnotation = "plexus-cni.dev/verify";

/**
 * Annotation of a pod: "none" keeps the administrator's `defaultNetworks` away from it (U-18). No other value is one: a pod
 * that means something else must not come up as if it had said nothing.
 */
export const defaultNetworksAnnotation = "plexus-cni.dev/default-networks";
