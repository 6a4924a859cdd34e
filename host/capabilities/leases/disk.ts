// The disk backend of the capability `leases`: the directory of native host-local, byte for byte, under the same
// lock, so that both may work on one directory at the same time (containernetworking/plugins, ipam/host-local).

import { readdirSync } from "node:fs";
import type { Fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { formatAddress, type IpAddress, readAddress } from "../../src/net/ip.ts";
import { isThere, make, type LeaseDirectory } from "./directory.ts";
import { underLock, type LeaseOperation } from "./effect.ts";
import {
  contentOf,
  discardAllStaged,
  discardStaged,
  holdingOf,
  removeIfThere,
  Position,
  StagedLease,
  type Owner,
} from "./lease-file.ts";
import type { LeaseMemory } from "./lease-memory.ts";
import { type LeaseName, LeaseView } from "./lease-view.ts";
import { contains, onceAround, type Span } from "./ring.ts";
import { fromException } from "./store-fault.ts";

/** A set of leases of one network. */
export interface Pool {
  readonly directory: LeaseDirectory;
  /** Number of the range set: the position to continue from is kept for each. */
  readonly set: number;
  /** How long to wait for the lock, in ms. */
  readonly lockDeadlineMs: number;
  /** Of a brain that stays. */
  readonly memory?: LeaseMemory | undefined;
}

/** How many addresses in a row are tried before the directory is listed. */
const TRIES_BEFORE_LISTING = 8;

/** Reserves exactly this address. False: it is taken, by whomever. */
export function* reserve(pool: Pool, address: IpAddress, owner: Owner): LeaseOperation<Result<boolean>> {
  const taken = yield* reserveFirst(pool, owner, (lease) => ok(lease.link(formatAddress(address)) ? address : undefined));
  return taken.ok ? ok(taken.value !== undefined) : taken;
}

/** What `reserveNext` found. `heldBefore`: the owner's own from before, and nothing was reserved. */
export interface Reservation {
  readonly address: IpAddress;
  readonly heldBefore: boolean;
}

/**
 * Reserves the first free address of `spans`, round robin from the last one reserved in this set, leaving out `skip`; an
 * owner that holds one of them already is told that one, under the same lock. Undefined: none is free.
 */
export function* reserveNext(
  pool: Pool,
  spans: readonly Span[],
  skip: readonly IpAddress[],
  owner: Owner,
): LeaseOperation<Result<Reservation | undefined>> {
  const skipped = new Set(skip.map(formatAddress));
  let before: IpAddress | undefined;
  const reserved = yield* reserveFirst(pool, owner, (lease, position, view) => {
    const own = ownIn(view, owner);
    if (!own.ok) return own;
    before = own.value.find((address) => spans.some((span) => contains(span, address)));
    if (before !== undefined) return ok(undefined);
    let tries = 0;
    let taken: ReadonlySet<string> | undefined;
    for (const address of onceAround(spans, lastReserved(position))) {
      const name = formatAddress(address);
      if (skipped.has(name) || taken?.has(name) === true) continue;
      if (lease.link(name)) return ok(address);
      tries++;
      if (tries === TRIES_BEFORE_LISTING) taken = new Set(readdirSync(pool.directory.path));
    }
    return ok(undefined);
  });
  if (!reserved.ok) return reserved;
  if (before !== undefined) return ok({ address: before, heldBefore: true });
  return ok(reserved.value === undefined ? undefined : { address: reserved.value, heldBefore: false });
}

/**
 * The addresses that this owner holds, in all sets, in the order of their names. Needs no lock: a lease that stands is
 * whole, and who comes and goes meanwhile is another.
 */
export function held(pool: Pool, owner: Owner): Result<IpAddress[]> {
  return inDirectory(pool, [], () => ownIn(new LeaseView(pool.directory.path), owner));
}

function ownIn(view: LeaseView, owner: Owner): Result<IpAddress[]> {
  const holding = holdingOf(owner);
  const found = view.select((content) => holding(content) !== "other");
  if (found.length === 0 && view.unreadable !== undefined) return failed(view.unreadable);
  return ok(found.sort((a, b) => (a.path < b.path ? -1 : 1)).map((lease) => lease.address));
}

/**
 * Gives back all that this owner holds, in all sets; answers how many. What can't be read is passed over, and is a
 * fault only where nothing else was found: then it may have been the lease.
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

/** Gives back every lease that nobody in `valid` holds, damaged ones too; answers how many. */
export function* retain(pool: Pool, valid: readonly Owner[]): LeaseOperation<Result<number>> {
  const kept = new Set(valid.flatMap((owner) => [contentOf(owner), owner.containerId.trim()]));
  return yield* lockedInDirectory(pool, 0, () => {
    // What others left damaged may have been mended in place: read anew.
    const view = new LeaseView(pool.directory.path);
    discardAllStaged(pool.directory);
    const found = view.select((content) => !kept.has(content.trim()));
    const removed = remove(pool, found, view);
    return removed.ok && view.unreadable !== undefined ? failed(view.unreadable) : removed;
  });
}

/** How many addresses within `spans` are held; stops at `limit`. Needs no lock: names come and go whole. */
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

/** Whether an address could be reserved now: does all of it but the taking, under the lock. */
export function* probe(pool: Pool): LeaseOperation<Result<undefined>> {
  const owner: Owner = { containerId: "plexus-probe", ifname: "probe" };
  const tried = yield* reserveFirst(pool, owner, () => ok(undefined));
  return tried.ok ? ok(undefined) : tried;
}

/** Stages a lease, lets `take` give it an address, and notes the position; leaves nothing behind on failure. */
function* reserveFirst(
  pool: Pool,
  owner: Owner,
  take: (lease: StagedLease, position: Position, view: LeaseView) => Result<IpAddress | undefined>,
): LeaseOperation<Result<IpAddress | undefined>> {
  const made = make(pool.directory);
  if (!made.ok) return made;
  return yield* underLock(pool.directory.lock, pool.lockDeadlineMs, () => {
    const position = new Position(`${pool.directory.path}/last_reserved_ip.${pool.set}`);
    let lease: StagedLease | undefined;
    let taken: IpAddress | undefined;
    try {
      const view = new LeaseView(pool.directory.path, pool.memory);
      lease = new StagedLease(pool.directory, owner, pool.memory?.spares);
      const answered = take(lease, position, view);
      if (answered.ok) taken = answered.value;
      if (taken !== undefined) {
        view.added(formatAddress(taken), contentOf(owner));
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

/** Best effort after a failure: what can't be removed has its owner's name on it, so DEL or GC gives it back. */
function undo(directory: LeaseDirectory, lease: StagedLease | undefined, taken: IpAddress | undefined): void {
  try {
    if (taken !== undefined) removeIfThere(`${directory.path}/${formatAddress(taken)}`);
    lease?.discard();
  } catch {
    // The fault that led here is the one to report.
  }
}

/** Undefined: no position, or none that is an address. */
function lastReserved(position: Position): IpAddress | undefined {
  const text = position.read();
  return text === undefined ? undefined : readAddress(text);
}

/** Runs `work` on the network's directory; a network without one has no leases, and gets none made. */
function inDirectory<T>(pool: Pool, none: T, work: () => Result<T>): Result<T> {
  const there = isThere(pool.directory);
  if (!there.ok) return there;
  return there.value ? caught(pool, work) : ok(none);
}

/** The same under the lock. */
function* lockedInDirectory<T>(pool: Pool, none: T, work: () => Result<T>): LeaseOperation<Result<T>> {
  const there = isThere(pool.directory);
  if (!there.ok) return there;
  if (!there.value) return ok(none);
  return yield* underLock(pool.directory.lock, pool.lockDeadlineMs, () => caught(pool, work));
}

function caught<T>(pool: Pool, work: () => Result<T>): Result<T> {
  try {
    return work();
  } catch (error) {
    return failed(fromException(pool.directory.path, error));
  }
}

/** Removes all that can be removed, then says what couldn't be. */
function remove({ memory }: Pool, leases: readonly LeaseName[], view: LeaseView): Result<number> {
  let removed = 0;
  let kept: Fault | undefined;
  for (const lease of leases) {
    try {
      if (removeIfThere(lease.path, memory?.spares)) removed++;
      view.removed(lease.name);
    } catch (error) {
      kept ??= fromException(lease.path, error);
    }
  }
  view.remember();
  return kept === undefined ? ok(removed) : failed(kept);
}
