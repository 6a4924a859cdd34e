// Requests of tests with PodNetworks, and of plexus-controller, as `verb resource`: see ApiServerInit.alsoAllowed.

const resources = [
  "podnetworks",
  "podnetworks/status",
  "podnetworkattachments",
  "podnetworkattachments/status",
  "pods",
  "pods/status",
  "pods/binding",
  "namespaces",
  "network-attachment-definitions",
  "namespaces/status",
  "leases",
  "roles",
  "rolebindings",
  "clusterroles",
  "clusterrolebindings",
  "customresourcedefinitions",
  "validatingadmissionpolicies",
  "validatingadmissionpolicybindings",
  "mutatingadmissionpolicies",
  "mutatingadmissionpolicybindings",
];

/** Requests of Plexus' client in these tests, which use it for their own objects, too. */
export const networkRequests: readonly string[] = resources.flatMap((resource) =>
  ["get", "list", "watch", "create", "update", "patch", "delete"].map((verb) => `${verb} ${resource}`),
);
