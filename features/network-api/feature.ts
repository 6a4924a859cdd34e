// Clients set and read a node's networks by the CRI Network API, a gRPC service of the daemon.

import type { Feature } from "../feature.ts";

/** The feature. */
export const networkApi: Feature = {
  name: "network-api",
  keys: [],
  chartValues: ["networkApi"],
  errors: ["NETWORK_CONFIG_INVALID", "NETWORK_OUTDATED", "NETWORK_NAME_TAKEN"],
  resident: async () => (await import("./resident.ts")).resident,
  commands: async () => (await import("./ctl/commands.ts")).nodeNetworkCommands,
};
