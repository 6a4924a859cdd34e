// The annotations that Plexus reads or writes. Their values are network names and addresses.

const prefixes = ["k8s.v1.cni.cncf.io/", "v1.multus-cni.io/"] as const;

/** Whether Plexus reads or writes the annotation. */
export function isPlexusAnnotation(key: string): boolean {
  return prefixes.some((prefix) => key.startsWith(prefix));
}
