// The requests of tests about Services on further networks.

/** The requests of plexus-controller's part and of the tests, as `verb resource` (ApiServerInit.alsoAllowed). */
export const serviceRequests: readonly string[] = [
  "services",
  "pods",
  "pods/status",
  "nodes",
  "endpointslices",
  "endpoints",
  "namespaces",
  "mutatingadmissionpolicies",
  "mutatingadmissionpolicybindings",
  "validatingadmissionpolicies",
  "validatingadmissionpolicybindings",
  "clusterroles",
  "clusterrolebindings",
  "roles",
  "rolebindings",
].flatMap((resource) => ["get", "list", "watch", "create", "patch", "update", "delete"].map((verb) => `${verb} ${resource}`));
