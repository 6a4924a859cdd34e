// Binds the capability `leases` to one call: its network, its attachment, its verb, and the administrator's directories. Any other
// request is refused here, before a file is touched.

import { defaultLeaseDirectory } from "../../../src/configuration/keys/grant-keys.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { formatAddress, readAddress, type IpAddress } from "../../../src/net/ip.ts";
import { type AllowedDirectory, allowedDirectory } from "../../store/files/allowed-directory.ts";
import { type LeaseDirectory, leaseDirectory } from "./directory.ts";
import * as disk from "./disk.ts";
import type { LeaseOperation } from "./effect.ts";
import { isOwnerless, networkOfLease, type Owner } from "./lease-file.ts";
import type { LeaseMemory } from "./lease-memory.ts";
import type { Span } from "./ring.ts";
import type { LeasesAddressRange, LeasesCapability, LeasesPool } from "../../sandbox/abi/generated/delegate-1.0.0.ts";
import { misuseOf, refuse, witOutcome } from "../outcome.ts";

/** The verb of the call, as the ABI spells it. */
export type Verb = "add" | "del" | "check" | "gc" | "status";

/** The call that the capability is bound to, and the administrator's directories. */
export interface LeaseScope {
  /** The network of the call, a valid CNI network name. */
  readonly network: string;
  readonly verb: Verb;
  /** The attachment of ADD, DEL and CHECK: the only owner that a delegate may name. */
  readonly attachment?: Owner;
  /** The absolute path of the directory for configurations without `dataDir`. */
  readonly defaultDirectory?: string;
  /**
   * Absolute paths of further directories that a configuration may name. An entry that ends in `/` also allows every directory beneath
   * it. Networks are then not protected from each other, because a configuration can place its directory in another network's.
   */
  readonly allowedDirectories?: readonly string[];
  /** The containers whose leases `retain` may free; undefined: all of them. */
  readonly knownContainers?: ReadonlySet<string>;
  /** Maximum milliseconds to wait for another process's lock. */
  readonly lockDeadlineMs?: number;
  /** The daemon's memory of leases; undefined in a one-shot engine. */
  readonly memory?: LeaseMemory | undefined;
  /** The pool of the cluster whose addresses the call uses; undefined: the addresses are the node's own. */
  readonly pool?: PoolPlace | undefined;
}

/** The place of a pool's leases on this node. */
export interface PoolPlace {
  /** A valid name of an AddressPool. */
  readonly name: string;
  /** The absolute path of the directory with a directory for each pool. */
  readonly root: string;
}

/** The WIT interface `leases` with each function as a lease operation. */
export type LeaseOperations = {
  readonly [F in keyof LeasesCapability]: LeasesCapability[F] extends (...args: infer A) => infer R
    ? (...args: A) => LeaseOperation<R>
    : never;
};

const misused = misuseOf("leases");
const DEFAULT_LOCK_DEADLINE_MS = 10_000;
const NETWORK_NAME = /^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/;

/** The operations on pools: those on the disk, or those of a simulation. */
export type LeaseStore = Pick<typeof disk, "reserve" | "reserveNext" | "held" | "release" | "retain" | "count" | "probe">;

/** The capability for the delegate of one call. */
export function leasesFor(scope: LeaseScope, leases: LeaseStore = disk): LeaseOperations {
  return {
    *reserve(pool, address, owner) {
      const request = both(ownedPool(scope, pool, owner), addressOf(address));
      if (!request.ok) return refuse(request.fault);
      const [store, wanted] = request.value;
      return witOutcome(yield* leases.reserve(store, wanted, ownerIn(scope, owner)));
    },
    *reserveNext(pool, ranges, skip, owner) {
      const request = both(ownedPool(scope, pool, owner), both(readSpans(ranges), all(skip, addressOf)));
      if (!request.ok) return refuse(request.fault);
      const [store, [spans, skipped]] = request.value;
      const next = yield* leases.reserveNext(store, spans, skipped, ownerIn(scope, owner));
      if (!next.ok) return refuse(next.fault);
      if (next.value === undefined) return { ok: undefined };
      return { ok: { address: formatAddress(next.value.address), heldBefore: next.value.heldBefore } };
    },
    // oxlint-disable-next-line require-yield -- a generator like the others, although it needs no lock
    *held(pool, owner) {
      const store = ownedPool(scope, pool, owner);
      if (!store.ok) return refuse(store.fault);
      const addresses = leases.held(store.value, ownerIn(scope, owner));
      return addresses.ok ? { ok: addresses.value.map(formatAddress) } : refuse(addresses.fault);
    },
    *release(pool, owner) {
      const store = ownedPool(scope, pool, owner);
      return store.ok ? witOutcome(yield* leases.release(store.value, ownerIn(scope, owner))) : refuse(store.fault);
    },
    *retain(pool, valid) {
      if (scope.verb !== "gc") return refuse(misused(`only a GC may retain leases, this call is ${scope.verb.toUpperCase()}`));
      const store = poolOf(scope, pool);
      const { knownContainers, network } = scope;
      const mayFree = (content: string): boolean =>
        // Under the directory's lock a lease without an owner is nobody's: host-local writes the owner before it releases the lock.
        isOwnerless(content) ||
        ((scope.pool === undefined || networkOfLease(content) === network) &&
          // The first line of a lease is its container's id.
          (knownContainers?.has(content.split("\n", 1)[0]?.trim() ?? "") ?? true));
      const owners = valid.map((owner) => ownerIn(scope, owner));
      return store.ok ? witOutcome(yield* leases.retain(store.value, owners, mayFree)) : refuse(store.fault);
    },
    // oxlint-disable-next-line require-yield -- a generator like the others, although it needs no lock
    *count(pool, ranges, limit) {
      const request = both(poolOf(scope, pool), readSpans(ranges));
      return request.ok ? witOutcome(leases.count(request.value[0], request.value[1], limit)) : refuse(request.fault);
    },
    *probe(pool) {
      const store = poolOf(scope, pool);
      return store.ok ? witOutcome(yield* leases.probe(store.value)) : refuse(store.fault);
    },
  };
}

/** The owner as the lease names it. */
function ownerIn({ pool, network }: LeaseScope, owner: Owner): Owner {
  return pool === undefined ? owner : { ...owner, network };
}

/** The pool, if the owner is the call's attachment. */
function ownedPool(scope: LeaseScope, pool: LeasesPool, owner: Owner): Result<disk.Pool> {
  const { attachment } = scope;
  if (attachment === undefined) return failed(misused(`${scope.verb.toUpperCase()} has no attachment that could own a lease`));
  if (owner.containerId !== attachment.containerId || owner.ifname !== attachment.ifname) {
    const requested = JSON.stringify(`${owner.containerId}/${owner.ifname}`);
    return failed(misused(`owner ${requested} is not this call's attachment ${attachment.containerId}/${attachment.ifname}`));
  }
  return poolOf(scope, pool);
}

function poolOf(scope: LeaseScope, pool: LeasesPool): Result<disk.Pool> {
  if (!NETWORK_NAME.test(scope.network)) return failed(misused(`${JSON.stringify(scope.network)} is not a valid network name`));
  const found = directoryOf(scope, pool.directory);
  if (!found.ok) return found;
  const directory = found.value;
  return ok({ directory, set: pool.set, lockDeadlineMs: scope.lockDeadlineMs ?? DEFAULT_LOCK_DEADLINE_MS, memory: scope.memory });
}

function directoryOf(scope: LeaseScope, requested: string | undefined): Result<LeaseDirectory> {
  const { pool, network } = scope;
  if (pool !== undefined) {
    if (requested === undefined) return ok(leaseDirectory(pool.root, pool.root, pool.name));
    const why = `leases: ipam.dataDir ${JSON.stringify(requested)} is not allowed beside ipam.pool, whose leases are in ${pool.root}`;
    return failed(fault("DIRECTORY_NOT_ALLOWED", why));
  }
  const allowed = resolveDirectory(scope, requested);
  return allowed.ok ? ok(leaseDirectory(allowed.value.root, allowed.value.directory, network)) : allowed;
}

/** The directory of a pool, if the administrator allows it. Faults: DIRECTORY_NOT_ALLOWED, CAPABILITY_MISUSED. */
export function poolDirectory(scope: LeaseScope, requested: string | undefined): Result<LeaseDirectory> {
  const pool = poolOf(scope, { directory: requested, set: 0 });
  return pool.ok ? ok(pool.value.directory) : pool;
}

/** The pool's directory, if the administrator allows it. Fault: DIRECTORY_NOT_ALLOWED. */
function resolveDirectory(scope: LeaseScope, requested: string | undefined): Result<AllowedDirectory> {
  const entries = [scope.defaultDirectory ?? defaultLeaseDirectory, ...(scope.allowedDirectories ?? [])] as const;
  const allowed = allowedDirectory(entries, requested);
  if (typeof allowed === "object") return ok(allowed);
  const why = `leases: ipam.dataDir ${JSON.stringify(requested)} ${allowed}; allowed: ${entries.join(", ")}`;
  return failed(fault("DIRECTORY_NOT_ALLOWED", why));
}

function addressOf(text: string): Result<IpAddress> {
  const address = readAddress(text);
  return address === undefined ? failed(misused(`${JSON.stringify(text)} is not an IP address`)) : ok(address);
}

function readSpans(ranges: readonly LeasesAddressRange[]): Result<Span[]> {
  return all(ranges, (range) => {
    const ends = both(addressOf(range.first), addressOf(range.last));
    if (!ends.ok) return ends;
    const [first, last] = ends.value;
    if (first.family !== last.family || first.value > last.value)
      return failed(misused(`${range.first}-${range.last} is not a range of addresses`));
    return ok({ family: first.family, first: first.value, last: last.value });
  });
}

function all<A, B>(items: readonly A[], read: (item: A) => Result<B>): Result<B[]> {
  const values: B[] = [];
  for (const item of items) {
    const value = read(item);
    if (!value.ok) return value;
    values.push(value.value);
  }
  return ok(values);
}

function both<A, B>(a: Result<A>, b: Result<B>): Result<[A, B]> {
  if (!a.ok) return a;
  return b.ok ? ok([a.value, b.value]) : b;
}
