// Lets Plexus' daemons of a test make all requests, for tests that are not about rights.

import type { ApiObjects } from "../../../host/cluster/kube/api-objects.ts";
import { outcome } from "./apply.ts";

const rbac = "rbac.authorization.k8s.io";

/** Gives the service account of the daemons the role cluster-admin. */
export async function allowAll(objects: ApiObjects): Promise<void> {
  const made = outcome(
    await objects.create(`/apis/${rbac}/v1/clusterrolebindings`, {
      apiVersion: `${rbac}/v1`,
      kind: "ClusterRoleBinding",
      metadata: { name: "plexus-may-all" },
      roleRef: { apiGroup: rbac, kind: "ClusterRole", name: "cluster-admin" },
      subjects: [{ kind: "ServiceAccount", name: "plexus", namespace: "kube-system" }],
    }),
  );
  if (typeof made === "string") throw new Error(made);
}
