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

const all = (...named: readonly string[]): readonly string[] =>
  named.flatMap((resource) =>
    ["get", "list", "watch", "create", "update", "patch", "delete"].map((verb) => `${verb} ${resource}`),
  );

/** Requests of Plexus' client in these tests, which use it for their own objects, too. */
export const networkRequests: readonly string[] = all(...resources);

/** Requests of plexus-controller and of tests for external ports, besides `networkRequests`. */
export const portRequests: readonly string[] = all("externalports", "externalports/status");
