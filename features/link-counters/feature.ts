// Traffic of pods' further networks: metrics by network, and plexusctl top by pod and interface.

import type { Feature } from "../feature.ts";

/** The feature. */
export const linkCounters: Feature = {
  name: "link-counters",
  keys: ["linkCounters"],
  chartValues: ["linkCounters"],
  errors: [],
  metrics: async () => (await import("./metrics.ts")).linkCounterMetrics,
  resident: async () => (await import("./resident.ts")).resident,
  commands: async () => (await import("./ctl/commands.ts")).counterCommands,
};
