// Policies on further networks: MultiNetworkPolicies as one nftables table in the pod's network namespace, and by choice another one at the
// node's ends of its veths.

import type { Feature } from "../feature.ts";

/** The feature. */
export const policies: Feature = {
  name: "policies",
  keys: ["policies"],
  chartValues: ["policies"],
  errors: ["POLICY_FAILED"],
  plan: {
    guard: {
      key: "policies",
      guard: async (context, pod) => (await import("./node/guard-pod.ts")).guardPod(context, pod),
      node: {
        isOn: ({ policies: settings }) => settings?.enforceAt === "node",
        secure: async (context, pod) => (await import("./node/secure-pod.ts")).securePod(context, pod),
        release: async (context, containerId) => (await import("./node/secure-pod.ts")).releasePod(context, containerId),
      },
    },
  },
  controller: async () => (await import("./controller.ts")).controller,
  commands: async () => (await import("./ctl/commands.ts")).policyCommands,
  metrics: async () => (await import("./metrics.ts")).policyMetrics,
  kernelProbe: async (configuration) => (await import("./node/probe-kernel.ts")).probeOf(configuration),
  resident: async () => (await import("./resident.ts")).resident,
};
