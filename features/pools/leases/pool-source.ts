// The pools as the capability `leases` asks for them.

import type { PoolSource } from "../../../host/capabilities/leases/pool-source.ts";
import type { Pools } from "./pool-access.ts";

/** The source over these pools. */
export function poolSource(pools: Pools): PoolSource {
  return {
    root: pools.root,
    complete: (name, configuration, user) => pools.complete(name, configuration, user),
    leases: async (name, scope, step, run) => {
      const { leasesOfPool } = await import("./pool-leases.ts");
      const { staticRequestOf } = await import("./static-request.ts");
      const request = scope.verb === "add" ? staticRequestOf(step, name) : undefined;
      return leasesOfPool(scope, { name, source: pools }, run, request);
    },
  };
}
