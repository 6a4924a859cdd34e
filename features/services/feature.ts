// Services on further networks: names and cluster addresses of pods on their networks.

import type { Feature } from "../feature.ts";

/** The feature. */
export const services: Feature = {
  name: "services",
  keys: ["services"],
  chartValues: ["services"],
  errors: ["SERVICES_FAILED"],
  plan: {
    guard: {
      key: "services",
      guard: async (context, pod) => (await import("./node/serve-pod.ts")).guardPod(context, pod),
    },
  },
  controller: async () => (await import("./controller.ts")).controller,
  commands: async () => (await import("./ctl/commands.ts")).serviceCommands,
  metrics: async () => (await import("./metrics.ts")).serviceMetrics,
  kernelProbe: async (configuration) => (await import("./node/probe-kernel.ts")).probeOf(configuration),
  resident: async () => (await import("./resident.ts")).resident,
};
