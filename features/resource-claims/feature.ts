// Networks get the devices of a pod's resource claims (dynamic resource allocation, resource.k8s.io/v1).

import { ok } from "../../src/fault/result.ts";
import type { Feature } from "../feature.ts";

/** The feature. */
export const resourceClaims: Feature = {
  name: "resource-claims",
  keys: ["kubernetes.resourceClaims"],
  chartValues: ["dynamicResources"],
  errors: ["RESOURCE_CLAIM_UNUSABLE"],
  plan: {
    devices: {
      isOn: ({ kubernetes }) => kubernetes.resourceClaims,
      // Loaded late: most calls need no claim, and a one-shot engine pays for each module that it loads.
      read: async (pod, { api }) => (api === undefined ? ok(undefined) : (await import("./node.ts")).claimedDevices(api, pod)),
    },
  },
};
