// Requests and rights of tests about Services on further networks.

import type { KubernetesObject } from "@kubernetes/client-node";

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

/** The right that the chart gives to daemons with services.enabled. */
export const serviceRights: readonly (KubernetesObject & Readonly<Record<string, unknown>>)[] = [
  {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name: "plexus-services" },
    rules: [{ apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: ["list", "watch"] }],
  },
  {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata: { name: "plexus-services" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "plexus-services" },
    subjects: [{ kind: "ServiceAccount", name: "plexus", namespace: "kube-system" }],
  },
];
