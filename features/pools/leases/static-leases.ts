// The capability `leases` with addresses that outlive pods: the attachment holds the reservation in the API before its lease is written.

import { fault } from "../../../src/fault/fault.ts";
import { formatAddress, type IpAddress, readAddress } from "../../../src/net/ip.ts";
import type { CapabilityImports } from "../../../host/sandbox/runner.ts";
import { refuse } from "../../../host/capabilities/outcome.ts";
import type { LeaseOperation } from "../../../host/capabilities/leases/effect.ts";
import { leasesFor, type LeaseScope } from "../../../host/capabilities/leases/scope.ts";
import type { StaticAddresses, StaticRequest } from "./static-addresses.ts";

type Leases = NonNullable<CapabilityImports["leases"]>;

/**
 * The capability for an ADD. All other addresses come from `blocks`. `request`: the attachment; undefined for a call without a pod, which has
 * no static address.
 */
export function withStatics(
  blocks: Leases,
  scope: LeaseScope,
  run: <T>(operation: LeaseOperation<T>) => T | Promise<T>,
  statics: StaticAddresses,
  name: string,
  request: StaticRequest | undefined,
): Leases {
  // Without the restriction to the node's blocks: the reservation is the right to the address.
  const leases = leasesFor(scope);
  const wish = request?.wish;
  const wishes = wish?.ok === true && (wish.value.claim !== undefined || wish.value.keepsOrdinal);
  return {
    ...blocks,
    reserve: async (pool, text, owner) => {
      const address = readAddress(text);
      if (address === undefined || !statics.isStatic(name, address)) return blocks.reserve(pool, text, owner);
      if (request === undefined) return refuse(withoutPod(name, address));
      if (!request.wish.ok) return refuse(request.wish.fault);
      const taken = await statics.take(request, address);
      if (!taken.ok) return refuse(taken.fault);
      if (!taken.value) return { ok: false };
      try {
        return await run(leases.reserve(pool, text, owner));
      } finally {
        statics.settled(name, address);
      }
    },
    reserveNext: async (pool, ranges, skip, owner) => {
      if (wish?.ok === false) return refuse(wish.fault);
      const family = readAddress(ranges[0]?.first ?? "")?.family;
      const mayKeep = wishes || statics.keepsInstanceAddresses(name);
      if (request === undefined || !mayKeep || family === undefined) {
        const given = await blocks.reserveNext(pool, ranges, skip, owner);
        const address = "ok" in given && given.ok !== undefined ? readAddress(given.ok.address) : undefined;
        if (request !== undefined && address !== undefined) statics.noteFromBlock(request, address);
        return given;
      }
      const next = await statics.next(request, family);
      if (!next.ok) return refuse(next.fault);
      const address = next.value;
      if (address === undefined) return blocks.reserveNext(pool, ranges, skip, owner);
      try {
        const text = formatAddress(address);
        const reserved = await run(leases.reserveNext(pool, [{ first: text, last: text }], [], owner));
        if (!("ok" in reserved) || reserved.ok !== undefined) return reserved;
        return refuse(
          fault("POOL_UNAVAILABLE", `${text} of AddressPool ${name} still has a lease of another container of this node`),
        );
      } finally {
        statics.settled(name, address);
      }
    },
  };
}

function withoutPod(pool: string, address: IpAddress): ReturnType<typeof fault> {
  const why = `${formatAddress(address)} is a static address of AddressPool ${pool}, which only a pod of Kubernetes gets: the runtime names no pod`;
  return fault("POOL_UNAVAILABLE", why);
}
