// Policies on further networks: MultiNetworkPolicy, and NetworkPolicy for PodNetworks, as one nftables table in the pod's network namespace.

import type { Feature } from "../feature.ts";

/** The feature. */
export const policies: Feature = {
  name: "policies",
  keys: [],
  chartValues: [],
  errors: [],
};
