// AddressPools for tests, and the requests of tests with pools, as `verb resource` (ApiServerInit.alsoAllowed).

import type { KubernetesObject } from "@kubernetes/client-node";
import { poolFinalizer } from "../../../features/pools/rules/address-pool.ts";

type PoolObject = KubernetesObject & Readonly<Record<string, unknown>>;

/** A pool that plexus-controller has seen: with its finalizer. */
export function poolObject(name: string, ranges: readonly object[], spec: object = {}): PoolObject {
  return {
    apiVersion: "plexus.dev/v1alpha1",
    kind: "AddressPool",
    metadata: { name, finalizers: [poolFinalizer] },
    spec: { ranges, ...spec },
  };
}

const resources = [
  "addresspools",
  "addresspools/status",
  "addressblocks",
  "addressblocks/status",
  "addressreservations",
  "customresourcedefinitions",
  "validatingadmissionpolicies",
  "validatingadmissionpolicybindings",
];

/** Requests of Plexus' client in these tests, which use it for their own objects, too. */
export const poolRequests: readonly string[] = resources.flatMap((resource) =>
  ["get", "list", "watch", "create", "patch", "delete"].map((verb) => `${verb} ${resource}`),
);

/** The rights that the chart gives to daemons with pools.enabled. */
export const daemonRights: readonly KubernetesObject[] = [
  {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name: "plexus-pools" },
    rules: [
      { apiGroups: ["plexus.dev"], resources: ["addresspools"], verbs: ["get"] },
      { apiGroups: ["plexus.dev"], resources: ["addressblocks"], verbs: ["get", "list", "create", "delete"] },
      { apiGroups: ["plexus.dev"], resources: ["addressreservations"], verbs: ["get", "list", "create", "patch", "delete"] },
      { apiGroups: ["k8s.cni.cncf.io"], resources: ["ipamclaims"], verbs: ["get"] },
      { apiGroups: ["k8s.cni.cncf.io"], resources: ["ipamclaims/status"], verbs: ["patch"] },
    ],
  } as KubernetesObject,
  {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata: { name: "plexus-pools" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "plexus-pools" },
    subjects: [{ kind: "ServiceAccount", name: "plexus", namespace: "kube-system" }],
  } as KubernetesObject,
];
