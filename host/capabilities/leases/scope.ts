// Binds the capability `leases` to one call: its network, its attachment, its verb, the administrator's directories.
// What a delegate asks beyond that is refused here, before anything is touched.

import { defaultLeaseDirectory } from "../../src/configuration/wasm-configuration.ts";
import { fault, type Fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { formatAddress, readAddress, type IpAddress } from "../../src/net/ip.ts";
import { type AllowedDirectory, allowedDirectory } from "../files/allowed-directory.ts";
import { leaseDirectory } from "./directory.ts";
import * as disk from "./disk.ts";
import type { LeaseOperation } from "./effect.ts";
import type { Owner } from "./lease-file.ts";
import type { LeaseMemory } from "./lease-memory.ts";
import type { Span } from "./ring.ts";
import type {
  Fault as WitFault,
  LeasesAddressRange,
  LeasesCapability,
  LeasesPool,
} from "../sandbox/abi/generated/delegate-0.1.0.ts";
import type { Outcome } from "../sandbox/abi/guest.ts";
import { misused } from "./store-fault.ts";

export type Verb = "add" | "del" | "check" | "gc" | "status";

/** What one call may do with leases. */
export interface LeaseScope {
  /** The network of the call, a valid CNI network name. */
  readonly network: string;
  readonly verb: Verb;
  /** The attachment of ADD, DEL and CHECK: the only owner that a delegate may name. */
  readonly attachment?: Owner;
  /** Where leases lie if the configuration says nothing. Absolute. */
  readonly defaultDirectory?: string;
  /**
   * Further directories that a configuration may name. Absolute. One that ends in `/` admits what lies beneath it, too:
   * networks are then only as far apart as those who write configurations keep them, because a configuration may place
   * its network's directory into another's.
   */
  readonly allowedDirectories?: readonly string[];
  /** How long to wait for another process's lock, in ms. */
  readonly lockDeadlineMs?: number;
  /** Of a brain that stays. */
  readonly memory?: LeaseMemory | undefined;
}

/** The WIT's interface `leases`, each function as an operation: it yields the lock it wants, then answers. */
export type LeaseOperations = {
  readonly [F in keyof LeasesCapability]: LeasesCapability[F] extends (...args: infer A) => infer R
    ? (...args: A) => LeaseOperation<R>
    : never;
};

const DEFAULT_LOCK_DEADLINE_MS = 10_000;
const NETWORK_NAME = /^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/;

/** The capability as the delegate of this one call gets it. */
export function leasesFor(scope: LeaseScope): LeaseOperations {
  return {
    *reserve(pool, address, owner) {
      const at = both(owned(scope, pool, owner), addressOf(address));
      return at.ok ? answer(yield* disk.reserve(at.value[0], at.value[1], owner)) : refuse(at.fault);
    },
    *reserveNext(pool, ranges, skip, owner) {
      const at = both(owned(scope, pool, owner), both(readSpans(ranges), all(skip, addressOf)));
      if (!at.ok) return refuse(at.fault);
      const [store, [spans, skipped]] = at.value;
      const next = yield* disk.reserveNext(store, spans, skipped, owner);
      if (!next.ok) return refuse(next.fault);
      if (next.value === undefined) return { ok: undefined };
      return { ok: { address: formatAddress(next.value.address), heldBefore: next.value.heldBefore } };
    },
    // oxlint-disable-next-line require-yield -- an operation like the others, though it needs no lock
    *held(pool, owner) {
      const at = owned(scope, pool, owner);
      if (!at.ok) return refuse(at.fault);
      const addresses = disk.held(at.value, owner);
      return addresses.ok ? { ok: addresses.value.map(formatAddress) } : refuse(addresses.fault);
    },
    *release(pool, owner) {
      const at = owned(scope, pool, owner);
      return at.ok ? answer(yield* disk.release(at.value, owner)) : refuse(at.fault);
    },
    *retain(pool, valid) {
      if (scope.verb !== "gc") return refuse(misused(`retain is for GC only, this call is ${scope.verb.toUpperCase()}`));
      const at = poolOf(scope, pool);
      return at.ok ? answer(yield* disk.retain(at.value, valid)) : refuse(at.fault);
    },
    // oxlint-disable-next-line require-yield -- an operation like the others, though it needs no lock
    *count(pool, ranges, limit) {
      const at = both(poolOf(scope, pool), readSpans(ranges));
      return at.ok ? answer(disk.count(at.value[0], at.value[1], limit)) : refuse(at.fault);
    },
    *probe(pool) {
      const at = poolOf(scope, pool);
      return at.ok ? answer(yield* disk.probe(at.value)) : refuse(at.fault);
    },
  };
}

/** The pool, if the owner is the attachment of the call. */
function owned(scope: LeaseScope, pool: LeasesPool, owner: Owner): Result<disk.Pool> {
  const mine = scope.attachment;
  if (mine === undefined) return failed(misused(`${scope.verb.toUpperCase()} has no attachment that could own a lease`));
  if (owner.containerId !== mine.containerId || owner.ifname !== mine.ifname) {
    const named = `${owner.containerId}/${owner.ifname}`;
    return failed(misused(`owner ${JSON.stringify(named)} is not this call's attachment ${mine.containerId}/${mine.ifname}`));
  }
  return poolOf(scope, pool);
}

function poolOf(scope: LeaseScope, pool: LeasesPool): Result<disk.Pool> {
  if (!NETWORK_NAME.test(scope.network)) return failed(misused(`${JSON.stringify(scope.network)} is no network name`));
  const place = resolveDirectory(scope, pool.directory);
  if (!place.ok) return place;
  const directory = leaseDirectory(place.value.root, place.value.directory, scope.network);
  return ok({ directory, set: pool.set, lockDeadlineMs: scope.lockDeadlineMs ?? DEFAULT_LOCK_DEADLINE_MS, memory: scope.memory });
}

/** Where the pool's directory lies, if the administrator allows it. */
function resolveDirectory(scope: LeaseScope, wanted: string | undefined): Result<AllowedDirectory> {
  const entries = [scope.defaultDirectory ?? defaultLeaseDirectory, ...(scope.allowedDirectories ?? [])] as const;
  const place = allowedDirectory(entries, wanted);
  if (typeof place === "object") return ok(place);
  const what = `leases: ipam.dataDir ${JSON.stringify(wanted)} ${place}; allowed: ${entries.join(", ")}`;
  return failed(fault("DIRECTORY_NOT_ALLOWED", what));
}

function addressOf(text: string): Result<IpAddress> {
  const address = readAddress(text);
  return address === undefined ? failed(misused(`${JSON.stringify(text)} is no IP address`)) : ok(address);
}

function readSpans(ranges: readonly LeasesAddressRange[]): Result<Span[]> {
  return all(ranges, (range) => {
    const ends = both(addressOf(range.first), addressOf(range.last));
    if (!ends.ok) return ends;
    const [first, last] = ends.value;
    if (first.family !== last.family || first.value > last.value)
      return failed(misused(`${range.first}-${range.last} is no range of addresses`));
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

function answer<T>(result: Result<T>): Outcome<T, WitFault> {
  return result.ok ? { ok: result.value } : refuse(result.fault);
}

function refuse(why: Fault): { readonly err: WitFault } {
  return { err: { code: why.code, msg: why.msg, details: why.details } };
}
