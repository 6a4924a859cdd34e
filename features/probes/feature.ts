// Probes of a network from a pod: plexusctl probe.

import type { Feature } from "../feature.ts";

/** The feature. */
export const probes: Feature = {
  name: "probes",
  keys: ["probes"],
  chartValues: ["probes"],
  errors: [],
  resident: async () => (await import("./resident.ts")).resident,
  commands: async () => (await import("./ctl/commands.ts")).probeCommands,
};
