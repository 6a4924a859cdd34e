// The order of test files on a cluster. Files that want the same state of their worker's cluster follow each other, long ones first, so that
// a worker installs Plexus once and the workers end at about the same time.

/** The image, which other files use; files that need no cluster or start their own; those that begin without Plexus; those that begin with Plexus. */
export const clusterOrder: readonly string[] = [
  "image",
  "external-ports",
  "ec2-provider",
  "multus-migration",
  "faults-image",
  "machines",
  "multus-scenarios",
  "by-hand",
  "comparison",
  "network-client",
  "helm-uninstall",
  "chart",
  "components",
  "helm-install",
  "without-native-plugins",
  // Not beside another Neutron: each of them keeps a processor busy.
  "neutron-conflicts",
  "faults-api",
  "helm-upgrade",
  "faults-crash",
  "faults-resources",
  "neutron-pods",
  "pod-networks",
  "resource-claims",
  "claims",
  "claims-examples",
  "policies",
  "hot-plug",
  "jail",
  "kubectl-plexus",
  "ports-ahead",
  "nested-vlan",
  "external-port-times",
].map((name) => `${name}.test.ts`);
