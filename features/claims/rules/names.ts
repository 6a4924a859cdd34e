// The names by which the Kubernetes API, the kubelet and the configuration know the driver.

/** The driver's name (resource.k8s.io), which is also the domain of its attributes. */
export const driverName = "plexus.dev";

/** The domain of the attributes that say which PodNetworks a device reaches. */
export const networksDomain = "networks.plexus.dev";

/** The key of the taint of a device whose link is down. */
export const downTaint = "plexus.dev/link-down";

/** The form of an opaque configuration. */
export const parametersVersion = "plexus.dev/v1alpha1";
export const parametersKind = "Network";
