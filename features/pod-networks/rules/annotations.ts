// The annotation by which a pod names its PodNetworks.

/** The annotation's key. */
export const podNetworksAnnotation = "plexus.dev/networks";
