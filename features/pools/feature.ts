// Addresses of a cluster: nodes claim blocks of AddressPools in the Kubernetes API, and hand out the blocks' addresses themselves.

import type { Feature } from "../feature.ts";

/** The feature. */
export const pools: Feature = {
  name: "pools",
  keys: [],
  chartValues: ["pools"],
  errors: ["POOL_FULL"],
  pools: {
    ofOneCall: async (cniDir) => {
      const { oneShotPools } = await import("./leases/one-shot-pools.ts");
      const { poolSource } = await import("./leases/pool-source.ts");
      return poolSource(oneShotPools(cniDir));
    },
    resident: async (init) => new (await import("./daemon-pools.ts")).DaemonPools(init),
  },
  controller: async () => (await import("./controller.ts")).controller,
  commands: async () => (await import("./ctl/commands.ts")).poolCommands,
  finalizers: async () => (await import("./finalizers.ts")).finalizers,
};
