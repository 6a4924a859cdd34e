// The operations of the capability `leases` on disk. Files and lock are those of native host-local, byte for byte, so that both can
// use one directory at the same time (containernetworking/plugins, ipam/host-local).

import { readdirSync } from "node:fs";
import type { Fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { formatAddress, type IpAddress, readAddress } from "../../../src/net/ip.ts";
import { type Reservation, contains, roundRobin, type Span } from "./capability.ts";
import { underLock, type LeaseOperation } from "./effect.ts";
import {
  directoryExists,
  type LeaseDirectory,
  makeLeaseDirectory,
  contentOf,
  discardAllStaged,
  discardStaged,
  holdingOf,
  removeIfPresent,
  StagedLease,
  type Owner,
} from "./lease-file.ts";
import { type LeaseMemory, type LeaseName, LeaseView } from "./lease-memory.ts";
import { Position } from "./position.ts";
import { fromException } from "./store-fault.ts";

/** The leases of one network, and one of its range sets. */
export interface Pool {
  readonly directory: LeaseDirectory;
  /** The number of the range set. Each set has its own last reserved address. */
  readonly set: number;
  /** Maximum milliseconds to wait for the lock. */
  readonly lockDeadlineMs: number;
  /** The daemon's memory of leases; undefined in a one-shot engine. */
  readonly memory?: LeaseMemory | undefined;
}

/** Number of addresses that are tried one by one before the directory is listed. */
const TRIES_BEFORE_LISTING = 8;

/** Decides about an address after its lease is on the disk. False: the lease is removed again. */
export type Confirm = (address: IpAddress) => boolean;

/** Reserves exactly this address. False: the address has an owner already, perhaps this one, or is not confirmed. */
export function* reserve(pool: Pool, address: IpAddress, owner: Owner, confirm?: Confirm): LeaseOperation<Result<boolean>> {
  const taken = yield* reserveFirst(pool, owner, (lease) =>
    ok(placeOf(pool, lease, address, confirm) === "placed" ? address : undefined),
  );
  return taken.ok ? ok(taken.value !== undefined) : taken;
}

/** Terms of `reserveNext` for a pool of the cluster. */
export interface PoolTerms {
  /** Spans with an address that the owner may hold already; `spans` by default. */
  readonly heldIn: readonly Span[];
  readonly confirm: Confirm;
}

/**
 * Reserves the first free address of `spans` without `skip`, round robin from the set's last reserved address. If the owner already
 * holds an address of `spans`, that one is the answer. Undefined: no address is free, or one is not confirmed.
 */
export function* reserveNext(
  pool: Pool,
  spans: readonly Span[],
  skip: readonly IpAddress[],
  owner: Owner,
  { heldIn = spans, confirm }: Partial<PoolTerms> = {},
): LeaseOperation<Result<Reservation | undefined>> {
  const skipped = new Set(skip.map(formatAddress));
  let heldBefore: IpAddress | undefined;
  const reserved = yield* reserveFirst(pool, owner, (lease, position, view) => {
    const addresses = addressesOf(view, owner);
    if (!addresses.ok) return addresses;
    heldBefore = addresses.value.find((address) => heldIn.some((span) => contains(span, address)));
    if (heldBefore !== undefined) return ok(undefined);
    let tries = 0;
    let taken: ReadonlySet<string> | undefined;
    for (const address of roundRobin(spans, lastReserved(position))) {
      const name = formatAddress(address);
      if (skipped.has(name) || taken?.has(name) === true) continue;
      const place = placeOf(pool, lease, address, confirm);
      if (place !== "taken") return ok(place === "placed" ? address : undefined);
      tries++;
      if (tries === TRIES_BEFORE_LISTING) taken = new Set(readdirSync(pool.directory.path));
    }
    return ok(undefined);
  });
  if (!reserved.ok) return reserved;
  if (heldBefore !== undefined) return ok({ address: heldBefore, heldBefore: true });
  return ok(reserved.value === undefined ? undefined : { address: reserved.value, heldBefore: false });
}

/**
 * The addresses that this owner holds in all sets, in the order of their names. No lock is needed: leases appear whole, and
 * concurrent operations are those of other owners.
 */
export function held(pool: Pool, owner: Owner): Result<IpAddress[]> {
  return inDirectory(pool, [], () => addressesOf(new LeaseView(pool.directory.path), owner));
}

function addressesOf(view: LeaseView, owner: Owner): Result<IpAddress[]> {
  const holding = holdingOf(owner);
  const found = view.select((content) => holding(content) !== "other");
  if (found.length === 0 && view.unreadable !== undefined) return failed(view.unreadable);
  return ok(found.sort((a, b) => (a.path < b.path ? -1 : 1)).map((lease) => lease.address));
}

/**
 * Releases all leases of this owner in all sets, and returns their number. An unreadable lease is a fault only if no lease of the
 * owner was found, because the unreadable one may be the owner's.
 */
export function* release(pool: Pool, owner: Owner): LeaseOperation<Result<number>> {
  return yield* lockedInDirectory(pool, 0, () => {
    const view = new LeaseView(pool.directory.path, pool.memory);
    discardStaged(pool.directory, owner);
    const holding = holdingOf(owner);
    const found = view.select((content) => holding(content) === "owner");
    if (found.length > 0) return remove(pool, found, view);
    if (view.unreadable !== undefined) return failed(view.unreadable);
    return remove(
      pool,
      view.select((content) => holding(content) === "legacy"),
      view,
    );
  });
}

/** Releases every lease without an owner in `valid`, also damaged ones, and returns their number. */
export function* retain(
  pool: Pool,
  valid: readonly Owner[],
  mayFree: (content: string) => boolean = () => true,
): LeaseOperation<Result<number>> {
  const kept = new Set(valid.flatMap((owner) => [contentOf(owner), owner.containerId.trim()]));
  return yield* lockedInDirectory(pool, 0, () => {
    // No memory: GC reads all leases anew, so that it also sees files that were changed in place.
    const view = new LeaseView(pool.directory.path);
    discardAllStaged(pool.directory);
    const found = view.select((content) => !kept.has(content.trim()) && mayFree(content));
    const removed = remove(pool, found, view);
    return removed.ok && view.unreadable !== undefined ? failed(view.unreadable) : removed;
  });
}

/** The number of reserved addresses within `spans`, at most `limit`. No lock is needed, because a file's name appears atomically. */
export function count(pool: Pool, spans: readonly Span[], limit: number): Result<number> {
  return inDirectory(pool, 0, () => {
    let found = 0;
    for (const name of readdirSync(pool.directory.path)) {
      if (found >= limit) break;
      const address = readAddress(name);
      if (address !== undefined && spans.some((span) => contains(span, address))) found++;
    }
    return ok(found);
  });
}

/** Checks that an address could be reserved: does everything under the lock except reserving one. */
export function* probe(pool: Pool): LeaseOperation<Result<undefined>> {
  const owner: Owner = { containerId: "plexus-probe", ifname: "probe" };
  const tried = yield* reserveFirst(pool, owner, () => ok(undefined));
  return tried.ok ? ok(undefined) : tried;
}

/** Stages a lease, lets `take` reserve an address, and writes the position. A failure removes the lease again. */
function* reserveFirst(
  pool: Pool,
  owner: Owner,
  take: (lease: StagedLease, position: Position, view: LeaseView) => Result<IpAddress | undefined>,
): LeaseOperation<Result<IpAddress | undefined>> {
  const made = makeLeaseDirectory(pool.directory);
  if (!made.ok) return made;
  return yield* underLock(pool.directory.lock, pool.lockDeadlineMs, () => {
    const position = new Position(`${pool.directory.path}/last_reserved_ip.${pool.set}`);
    let lease: StagedLease | undefined;
    let taken: IpAddress | undefined;
    try {
      const view = new LeaseView(pool.directory.path, pool.memory);
      lease = new StagedLease(pool.directory, owner, pool.memory?.recycledFiles);
      const answered = take(lease, position, view);
      if (answered.ok) taken = answered.value;
      if (taken !== undefined) {
        view.noteAdded(formatAddress(taken), contentOf(owner));
        position.write(formatAddress(taken));
      }
      lease.discard();
      view.remember();
      return answered;
    } catch (error) {
      const because = fromException(pool.directory.path, error);
      undo(pool.directory, lease, taken);
      return failed(because);
    } finally {
      position.close();
    }
  });
}

/** Removes the lease after a failure, best effort. A file that stays names its owner, so that DEL or GC releases it. */
function undo(directory: LeaseDirectory, lease: StagedLease | undefined, taken: IpAddress | undefined): void {
  try {
    if (taken !== undefined) removeIfPresent(`${directory.path}/${formatAddress(taken)}`);
    lease?.discard();
  } catch {
    // The first fault is reported, not this one.
  }
}

/** Gives the lease an address. `refused`: the address was free, but is not confirmed. */
function placeOf(
  pool: Pool,
  lease: StagedLease,
  address: IpAddress,
  confirm: Confirm | undefined,
): "placed" | "taken" | "refused" {
  const name = formatAddress(address);
  if (!lease.reserve(name)) return "taken";
  if (confirm === undefined || confirm(address)) return "placed";
  removeIfPresent(`${pool.directory.path}/${name}`);
  return "refused";
}

/** The last reserved address; undefined if the position is missing or is not an address. */
function lastReserved(position: Position): IpAddress | undefined {
  const text = position.read();
  return text === undefined ? undefined : readAddress(text);
}

/** Runs `work` if the network's directory exists. Without a directory there are no leases, and the answer is `none`. */
function inDirectory<T>(pool: Pool, none: T, work: () => Result<T>): Result<T> {
  const exists = directoryExists(pool.directory);
  if (!exists.ok) return exists;
  return exists.value ? catching(pool, work) : ok(none);
}

/** Like `inDirectory`, under the lock. */
function* lockedInDirectory<T>(pool: Pool, none: T, work: () => Result<T>): LeaseOperation<Result<T>> {
  const exists = directoryExists(pool.directory);
  if (!exists.ok) return exists;
  if (!exists.value) return ok(none);
  return yield* underLock(pool.directory.lock, pool.lockDeadlineMs, () => catching(pool, work));
}

/** Runs `work` and turns an exception of node:fs into a fault. */
function catching<T>(pool: Pool, work: () => Result<T>): Result<T> {
  try {
    return work();
  } catch (error) {
    return failed(fromException(pool.directory.path, error));
  }
}

/** Removes the leases. A failure does not stop it; the fault is that of the first failure. */
function remove({ memory }: Pool, leases: readonly LeaseName[], view: LeaseView): Result<number> {
  let removed = 0;
  let failure: Fault | undefined;
  for (const lease of leases) {
    try {
      if (removeIfPresent(lease.path, memory?.recycledFiles)) removed++;
      view.noteRemoved(lease.name);
    } catch (error) {
      failure ??= fromException(lease.path, error);
    }
  }
  view.remember();
  return failure === undefined ? ok(removed) : failed(failure);
}
