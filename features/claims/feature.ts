// Networks as claims: a driver for dynamic resource allocation (resource.k8s.io/v1). The scheduler knows the node's links as devices, and the ADD attaches
// the networks of a pod's claims.

import type { Feature } from "../feature.ts";

/** The feature. */
export const claims: Feature = {
  name: "claims",
  keys: ["claims"],
  chartValues: ["claims"],
  errors: ["CLAIM_UNUSABLE"],
  plan: {
    claimed: {
      key: "claims",
      networks: async (context, cluster, pod) => (await import("./node/pod-claims.ts")).claimedNetworks(context, cluster, pod),
    },
  },
  resident: async () => (await import("./resident.ts")).resident,
};
