// Makes an API server of tests serve PodNetworks: their kinds and policies, a namespace `shop`, and the right to use each network.

import { expect, vi } from "vitest";
import type { ApiObject, ApiObjects } from "../../../host/cluster/kube/api-objects.ts";
import type { ApiServer } from "./api-server.ts";
import { applyObjects, collectionOf } from "./apply.ts";
import { networkObjects } from "./network-objects.ts";

const rbac = "rbac.authorization.k8s.io";

/** Creates an object; throws with the server's refusal. */
export async function create(objects: ApiObjects, object: Parameters<typeof collectionOf>[0] & ApiObject): Promise<void> {
  const made = await objects.create(collectionOf(object), object);
  if (made.kind !== "object") throw new Error(made.why);
}

/** Creates the kinds, the policies, the namespace, and a role that lets each service account use each network. */
export async function servePodNetworks(api: ApiServer, objects: ApiObjects): Promise<void> {
  await applyObjects(objects, "deploy/helm/plexus/files/networks.yaml");
  await api.namespace("shop");
  const rules = [{ apiGroups: ["plexus.dev"], resources: ["podnetworks", "podnetworkattachments"], verbs: ["use"] }];
  await create(objects, { apiVersion: `${rbac}/v1`, kind: "ClusterRole", metadata: { name: "use" }, rules });
  await create(objects, {
    apiVersion: `${rbac}/v1`,
    kind: "ClusterRoleBinding",
    metadata: { name: "use" },
    roleRef: { apiGroup: rbac, kind: "ClusterRole", name: "use" },
    subjects: [{ kind: "Group", apiGroup: rbac, name: "system:serviceaccounts" }],
  });
}

/** Waits until the mutating policy is active, which takes some time after its creation. */
export async function untilGated(api: ApiServer, objects: ApiObjects): Promise<void> {
  const remove = (): Promise<void> => api.deletePod("shop", "first").catch(() => undefined);
  await vi.waitFor(
    async () => {
      await remove();
      await create(objects, networkObjects.pod("first", '[{"podNetworkName":"none"}]'));
      const first = await objects.get("/api/v1/namespaces/shop/pods/first");
      expect(JSON.stringify(first)).toContain('"plexus.dev/networks":"gated"');
    },
    { timeout: 60_000, interval: 50 },
  );
  await remove();
}
