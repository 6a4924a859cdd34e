// Reports the addresses that a delegate reserves.

import type { CapabilityImports } from "../../sandbox/runner.ts";

type Leases = NonNullable<CapabilityImports["leases"]>;

/** The capability, which tells `report` each address that it reserves. */
export function reportedLeases(leases: Leases, report: (address: string) => void): Leases {
  return {
    ...leases,
    reserve: async (pool, address, owner) => {
      const reserved = await leases.reserve(pool, address, owner);
      if ("ok" in reserved && reserved.ok) report(address);
      return reserved;
    },
    reserveNext: async (pool, ranges, skip, owner) => {
      const reserved = await leases.reserveNext(pool, ranges, skip, owner);
      if ("ok" in reserved && reserved.ok !== undefined) report(reserved.ok.address);
      return reserved;
    },
  };
}
