// AddressPools for tests, and the requests of tests with pools, as `verb resource` (ApiServerInit.alsoAllowed).

import type { KubernetesObject } from "@kubernetes/client-node";
import { poolFinalizer } from "../../../src/address-pool/address-pool.ts";

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
