// The capability `leases` on the addresses of a pool of the cluster. The node's own lease files decide inside the node's blocks, as they do without a
// pool; only a further block needs the Kubernetes API. DEL and GC never need it.

import { intersections, sizeOf, type AddressSpan } from "../rules/spans.ts";
import { fault, type Fault } from "../../../src/fault/fault.ts";
import { formatAddress, readAddress } from "../../../src/net/ip.ts";
import type { LeasesAddressRange, LeasesPool } from "../../../host/sandbox/abi/generated/delegate-1.1.0.ts";
import type { CapabilityImports } from "../../../host/sandbox/runner.ts";
import { misuseOf, refuse } from "../../../host/capabilities/outcome.ts";
import * as disk from "../../../host/capabilities/leases/disk.ts";
import type { LeaseOperation } from "../../../host/capabilities/leases/effect.ts";
import { leasesFor, type LeaseScope, type LeaseStore } from "../../../host/capabilities/leases/scope.ts";
import type { PoolAccess, Pools } from "./pool-access.ts";
import type { StaticRequest } from "./static-addresses.ts";
import { withStatics } from "./static-leases.ts";

type Leases = NonNullable<CapabilityImports["leases"]>;
type Run = <T>(operation: LeaseOperation<T>) => T | Promise<T>;

/** Maximum claims of one request. Concurrent calls share a claim, and with a block size of 1 one of them gets its address. */
const maxClaims = 64;

/** The capability for one call. Only ADD and STATUS need to know the node's blocks. `request`: the attachment of an ADD of a pod. */
export async function leasesOfPool(
  scope: LeaseScope,
  { name, source }: { readonly name: string; readonly source: Pools },
  run: Run,
  request: StaticRequest | undefined,
): Promise<Leases> {
  if (scope.verb !== "add" && scope.verb !== "status") {
    const leases = leasesWithout(scope, misuseOf("leases")(`a ${scope.verb.toUpperCase()} reserves no address of a pool`), run);
    return noting(leases, () => source.noteReleased(name));
  }
  const access = await source.open(name);
  if (!access.ok) return leasesWithout(scope, access.fault, run);
  const leases = noting(poolLeases(scope, access.value, run), () => source.noteReleased(name));
  const statics = source.statics();
  return statics === undefined ? leases : withStatics(leases, scope, run, statics, name, request);
}

/** The capability, with a notice of each release to the daemon. */
function noting(leases: Leases, released: () => void): Leases {
  return {
    ...leases,
    release: async (pool, owner) => {
      const done = await leases.release(pool, owner);
      released();
      return done;
    },
    retain: async (pool, valid) => {
      const done = await leases.retain(pool, valid);
      released();
      return done;
    },
  };
}

/** The capability for an ADD or a STATUS of a daemon. */
function poolLeases(scope: LeaseScope, access: PoolAccess, run: Run): Leases {
  const leases = leasesFor(scope, storeIn(access));
  return {
    reserve: async (pool, address, owner) => {
      const ready = await access.ready();
      if (!ready.ok) return refuse(ready.fault);
      const wanted = readAddress(address);
      if (wanted !== undefined && !access.isUsable(wanted)) {
        const claimed = await access.claimWith(wanted);
        if (!claimed.ok) return refuse(claimed.fault);
        if (!claimed.value) return { ok: false };
      }
      const reserved = await run(leases.reserve(pool, address, owner));
      if ("ok" in reserved && reserved.ok) access.noteReserved();
      return reserved;
    },
    reserveNext: async (pool, ranges, skip, owner) => {
      for (let claims = 0; ; claims++) {
        const ready = await access.ready();
        if (!ready.ok) return refuse(ready.fault);
        const reserved = await run(leases.reserveNext(pool, ranges, skip, owner));
        if (!("ok" in reserved)) return reserved;
        if (reserved.ok !== undefined) {
          access.noteReserved();
          return reserved;
        }
        if (claims === maxClaims)
          return refuse(fault("POOL_UNAVAILABLE", `concurrent calls took the addresses of ${claims} new blocks`));
        const claimed = await access.claim(spansOf(ranges));
        if (!claimed.ok) return refuse(claimed.fault);
      }
    },
    held: async (pool, owner) => run(leases.held(pool, owner)),
    release: async (pool, owner) => run(leases.release(pool, owner)),
    retain: async (pool, valid) => run(leases.retain(pool, valid)),
    count: async (pool, ranges, limit) => {
      const used = await run(leases.count(pool, ranges, limit));
      if (!("ok" in used)) return used;
      const hasFree = await hasFreeAddress(access, run, leases.count, pool, ranges);
      if (typeof hasFree !== "boolean") return refuse(hasFree);
      // The delegate compares with the size of its ranges. It counts addresses that only other nodes hand out as free.
      return { ok: hasFree ? Math.min(used.ok, Math.max(0, limit - 1)) : limit };
    },
    probe: async (pool) => {
      const ready = await access.ready();
      return ready.ok ? run(leases.probe(pool)) : refuse(ready.fault);
    },
  };
}

/** The capability without access to the pool: DEL, CHECK and GC work on the lease files, and ADD gets no address. */
function leasesWithout(scope: LeaseScope, unavailable: Fault, run: Run): Leases {
  const leases = leasesFor(scope);
  const refused = (): ReturnType<typeof refuse> => refuse(unavailable);
  return {
    reserve: refused,
    reserveNext: refused,
    held: (pool, owner) => run(leases.held(pool, owner)),
    release: (pool, owner) => run(leases.release(pool, owner)),
    retain: (pool, valid) => run(leases.retain(pool, valid)),
    count: refused,
    probe: refused,
  };
}

/** The leases on the disk, restricted to the addresses that the node may hand out. The restriction is checked again once a lease is written. */
function storeIn(access: PoolAccess): LeaseStore {
  return {
    ...disk,
    reserve: (pool, address, owner) => disk.reserve(pool, address, owner, access.isUsable),
    reserveNext: (pool, spans, skip, owner) =>
      disk.reserveNext(pool, intersections(access.usable(), spans), skip, owner, { heldIn: spans, confirm: access.isUsable }),
  };
}

/** Whether an ADD would get an address of the ranges. */
async function hasFreeAddress(
  access: PoolAccess,
  run: Run,
  count: ReturnType<typeof leasesFor>["count"],
  pool: LeasesPool,
  ranges: readonly LeasesAddressRange[],
): Promise<boolean | Fault> {
  const spans = spansOf(ranges);
  const usable = intersections(access.usable(), spans);
  const size = Number(sizeOf(usable));
  const used = await run(count(pool, usable.map(rangeOf), size));
  if ("ok" in used && used.ok < size) return true;
  const claimable = await access.canClaim(spans);
  return claimable.ok ? claimable.value : claimable.fault;
}

/** The ranges as spans; the lease operations have refused malformed ones. */
function spansOf(ranges: readonly LeasesAddressRange[]): readonly AddressSpan[] {
  return ranges.flatMap(({ first, last }) => {
    const [begin, end] = [readAddress(first), readAddress(last)];
    if (begin === undefined || end === undefined || begin.family !== end.family) return [];
    return [{ family: begin.family, first: begin.value, last: end.value }];
  });
}

function rangeOf({ family, first, last }: AddressSpan): LeasesAddressRange {
  return { first: formatAddress({ family, value: first }), last: formatAddress({ family, value: last }) };
}
