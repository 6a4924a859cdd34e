// Binds the capability `leases` to one call: its network, its attachment, its verb, and the administrator's directories. Any other
// request is refused here, before a file is touched.

import { defaultLeaseDirectory } from "../../../src/configuration/keys/grant-keys.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import type { IpAddress } from "../../../src/net/ip.ts";
import type { LeasesPool } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import { type AllowedDirectory, allowedDirectory } from "../../store/files/walk-directories.ts";
import { misuseOf } from "../outcome.ts";
import { type LeaseCall, type LeaseOperations, type LeaseOwner, type LeasePort, leasesOver } from "./capability.ts";
import * as disk from "./disk.ts";
import type { LeaseOperation } from "./effect.ts";
import { type LeaseDirectory, leaseDirectory, isOwnerless, networkOfLease, type Owner } from "./lease-file.ts";
import type { LeaseMemory } from "./lease-memory.ts";

/** The call that the capability is bound to, and the administrator's directories. */
export interface LeaseScope extends LeaseCall {
  /** The network of the call, a valid CNI network name. */
  readonly network: string;
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
  /** The addresses that another host was found to have; `reserveNext` passes over them. Undefined: none are known. */
  readonly taken?: (() => readonly IpAddress[]) | undefined;
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

const misused = misuseOf("leases");
const DEFAULT_LOCK_DEADLINE_MS = 10_000;
const NETWORK_NAME = /^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/;

/** The operations on pools: those on the disk, or those of a simulation. */
export interface LeaseStore extends Omit<LeasePort<disk.Pool>, "open" | "retain"> {
  /** `mayFree`: whether a lease with this content may go, besides those of `valid`. */
  readonly retain: (
    pool: disk.Pool,
    valid: readonly Owner[],
    mayFree: (content: string) => boolean,
  ) => LeaseOperation<Result<number>>;
}

/** The capability for the delegate of one call. */
export function leasesFor(scope: LeaseScope, leases: LeaseStore = disk): LeaseOperations {
  const { knownContainers, network, pool: clusterPool } = scope;
  const mayFree = (content: string): boolean =>
    // Under the directory's lock a lease without an owner belongs to no attachment: host-local writes the owner before it releases the lock.
    isOwnerless(content) ||
    ((clusterPool === undefined || networkOfLease(content) === network) &&
      // The first line of a lease is its container's id.
      (knownContainers?.has(content.split("\n", 1)[0]?.trim() ?? "") ?? true));
  const named = (owner: LeaseOwner): Owner => ownerIn(scope, owner);
  return leasesOver<disk.Pool>(scope, {
    open: (pool) => poolOf(scope, pool),
    reserve: (pool, address, owner) => leases.reserve(pool, address, named(owner)),
    reserveNext: (pool, spans, skip, owner) =>
      leases.reserveNext(pool, spans, [...skip, ...(scope.taken?.() ?? [])], named(owner)),
    held: (pool, owner) => leases.held(pool, named(owner)),
    release: (pool, owner) => leases.release(pool, named(owner)),
    retain: (pool, valid) => leases.retain(pool, valid.map(named), mayFree),
    count: leases.count,
    probe: leases.probe,
  });
}

/** The owner as the lease names it. */
function ownerIn({ pool, network }: LeaseScope, owner: LeaseOwner): Owner {
  return pool === undefined ? owner : { ...owner, network };
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
