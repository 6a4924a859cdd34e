// MultiNetworkPolicies and pods on networks for tests.

import type { KubernetesObject } from "@kubernetes/client-node";

type AnyObject = KubernetesObject & Readonly<Record<string, unknown>>;

/** The requests of plexus-controller's part and of the tests, as `verb resource` (ApiServerInit.alsoAllowed). */
export const policyRequests: readonly string[] = [
  "multi-networkpolicies",
  "networkaddressslices",
  "networkpolicies",
  "podnetworks",
  "podnetworks/status",
  "namespaces",
  "pods",
  "customresourcedefinitions",
].flatMap((resource) => ["get", "list", "watch", "create", "patch", "update", "delete"].map((verb) => `${verb} ${resource}`));

/** A policy of a namespace for networks. */
export function multiNetworkPolicy(namespace: string, name: string, networks: string, spec: object): AnyObject {
  return {
    apiVersion: "k8s.cni.cncf.io/v1beta1",
    kind: "MultiNetworkPolicy",
    metadata: { namespace, name, annotations: { "k8s.v1.cni.cncf.io/policy-for": networks } },
    spec,
  };
}

/** A NetworkPolicy, which is for the PodNetworks that ask for it. */
export function networkPolicy(namespace: string, name: string, spec: object): AnyObject {
  return { apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy", metadata: { namespace, name }, spec };
}

/** A pod with labels, whose status has these addresses by network. */
export function podOn(
  namespace: string,
  name: string,
  labels: object,
  addresses: Readonly<Record<string, readonly string[]>>,
): AnyObject {
  const status = Object.entries(addresses).map(([network, ips], index) => ({
    name: network,
    interface: `net${index + 1}`,
    ips,
    default: false,
  }));
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      namespace,
      name,
      labels: labels as Record<string, string>,
      annotations: { "k8s.v1.cni.cncf.io/network-status": JSON.stringify(status) },
    },
    spec: { containers: [{ name: "c", image: "example.invalid/c", ports: [{ name: "sql", containerPort: 5432 }] }] },
  };
}

/** The rights that the chart gives to daemons with policies.enabled and networks.enabled. */
export const policyRights: readonly AnyObject[] = [
  {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name: "plexus-policies" },
    rules: [
      { apiGroups: ["k8s.cni.cncf.io"], resources: ["multi-networkpolicies"], verbs: ["list", "watch"] },
      { apiGroups: ["plexus.dev"], resources: ["networkaddressslices"], verbs: ["list", "watch"] },
      { apiGroups: ["plexus.dev"], resources: ["podnetworks", "podnetworkattachments"], verbs: ["get", "list", "watch"] },
      { apiGroups: ["networking.k8s.io"], resources: ["networkpolicies"], verbs: ["list", "watch"] },
    ],
  },
  {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata: { name: "plexus-policies" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "plexus-policies" },
    subjects: [{ kind: "ServiceAccount", name: "plexus", namespace: "kube-system" }],
  },
];
