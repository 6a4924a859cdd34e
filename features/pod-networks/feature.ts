// Pods name their networks as PodNetworks (KEP-3698).

import type { Feature } from "../feature.ts";
import { podNetworksAnnotation } from "./rules/annotations.ts";

/** The feature. */
export const podNetworks: Feature = {
  name: "pod-networks",
  keys: ["podNetworks", "requireDefaultPodNetwork"],
  chartValues: ["networks"],
  errors: ["POD_NETWORK_NOT_READY"],
  plan: {
    readiness: {
      isOn: ({ podNetworks: isOn, requireDefaultPodNetwork }) => isOn && requireDefaultPodNetwork,
      check: async (cluster) => (await import("./default-readiness.ts")).defaultPodNetworkExists(cluster),
    },
    networks: {
      key: "podNetworks",
      // A pod with the label must not start without its networks on a node whose key is off.
      isNeeded: ({ hasNetworksLabel }) => hasNetworksLabel === true,
      select: async (context, cluster, pod) => (await import("./plan-networks.ts")).podNetworksOf(context, cluster, pod),
      named: async (context, cluster, pod, name) =>
        (await import("./plan-networks.ts")).podNetworkNamed(context, cluster, pod, name),
      ownsNetworksOf: ({ annotations }) => annotations.has(podNetworksAnnotation),
      annotations: async (attachments) => (await import("./pod-status.ts")).podNetworkAnnotations(attachments),
    },
  },
  controller: async () => (await import("./controller.ts")).controller,
  finalizers: async () => (await import("./finalizers.ts")).finalizers,
};
