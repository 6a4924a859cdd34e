// Makes an API server of tests serve policies of further networks: their kinds, and the rights of daemons.

import { expect, vi } from "vitest";
import { policiesPath } from "../../../features/policies/node/policy-source.ts";
import { slicesPath } from "../../../features/policies/rules/address-slice.ts";
import type { ApiObjects } from "../../../host/cluster/kube/api-objects.ts";
import type { ApiServer } from "./api-server.ts";
import { applyObjects } from "./apply.ts";
import { policyRights } from "./policy-objects.ts";

/** Creates the kinds and the rights, and waits until the namespace's collections are served. */
export async function servePolicies(api: ApiServer, objects: ApiObjects, namespace: string): Promise<void> {
  await applyObjects(objects, "deploy/helm/plexus/files/policies.yaml");
  await applyObjects(objects, "deploy/helm/plexus/files/multi-network-policies.yaml");
  for (const object of policyRights) await api.admin.create(object);
  await vi.waitFor(
    async () => {
      for (const path of [policiesPath(namespace), slicesPath(namespace)])
        expect(await objects.list(path)).toMatchObject({ kind: "list" });
    },
    { timeout: 60_000, interval: 50 },
  );
}
