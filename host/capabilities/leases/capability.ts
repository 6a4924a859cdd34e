// The capability `leases` of one call, over a port: lease files of this node, a simulation on a snapshot of them, or memory only.

import type { Fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { formatAddress, readAddress, type IpAddress } from "../../../src/net/ip.ts";
import type { LeasesAddressRange, LeasesCapability, LeasesPool } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import { misuseOf, refuse, witOutcome } from "../outcome.ts";
import type { LeaseOperation } from "./effect.ts";

/** The verb of the call, as the ABI spells it. */
export type Verb = "add" | "del" | "check" | "gc" | "status";

/** The owner of a lease, as the delegate names it. */
export interface LeaseOwner {
  readonly containerId: string;
  readonly ifname: string;
}

/** The call that the capability is bound to. */
export interface LeaseCall {
  readonly verb: Verb;
  /** The attachment of ADD, DEL and CHECK: the only owner that a delegate may name. */
  readonly attachment?: LeaseOwner | undefined;
}

/** The address that `reserveNext` found. `heldBefore`: the owner already had it, so nothing was reserved. */
export interface Reservation {
  readonly address: IpAddress;
  readonly heldBefore: boolean;
}

/** Operations on the leases of pools. `P` is a pool that the port has found. */
export interface LeasePort<P> {
  /** The pool that a request names, if the administrator allows it. */
  readonly open: (pool: LeasesPool) => Result<P>;
  readonly reserve: (pool: P, address: IpAddress, owner: LeaseOwner) => LeaseOperation<Result<boolean>>;
  readonly reserveNext: (
    pool: P,
    spans: readonly Span[],
    skip: readonly IpAddress[],
    owner: LeaseOwner,
  ) => LeaseOperation<Result<Reservation | undefined>>;
  readonly held: (pool: P, owner: LeaseOwner) => Result<readonly IpAddress[]>;
  readonly release: (pool: P, owner: LeaseOwner) => LeaseOperation<Result<number>>;
  readonly retain: (pool: P, valid: readonly LeaseOwner[]) => LeaseOperation<Result<number>>;
  readonly count: (pool: P, spans: readonly Span[], limit: number) => Result<number>;
  readonly probe: (pool: P) => LeaseOperation<Result<undefined>>;
}

/** The WIT interface `leases` with each function as a lease operation. */
export type LeaseOperations = {
  readonly [F in keyof LeasesCapability]: LeasesCapability[F] extends (...args: infer A) => infer R
    ? (...args: A) => LeaseOperation<R>
    : never;
};

const misused: (why: string) => Fault = misuseOf("leases");

/** The capability. */
export function leasesOver<P>(call: LeaseCall, port: LeasePort<P>): LeaseOperations {
  const owned = (pool: LeasesPool, owner: LeaseOwner): Result<P> => {
    const denied = ownerDenial(call, owner);
    return denied === undefined ? port.open(pool) : failed(denied);
  };
  return {
    *reserve(pool, address, owner) {
      const request = both(owned(pool, owner), addressOf(address));
      return request.ok ? witOutcome(yield* port.reserve(...request.value, owner)) : refuse(request.fault);
    },
    *reserveNext(pool, ranges, skip, owner) {
      const request = both(owned(pool, owner), both(readSpans(ranges), all(skip, addressOf)));
      if (!request.ok) return refuse(request.fault);
      const [store, [spans, skipped]] = request.value;
      const next = yield* port.reserveNext(store, spans, skipped, owner);
      if (!next.ok) return refuse(next.fault);
      if (next.value === undefined) return { ok: undefined };
      return { ok: { address: formatAddress(next.value.address), heldBefore: next.value.heldBefore } };
    },
    // oxlint-disable-next-line require-yield -- a generator like the others, although it needs no lock
    *held(pool, owner) {
      const store = owned(pool, owner);
      if (!store.ok) return refuse(store.fault);
      const addresses = port.held(store.value, owner);
      return addresses.ok ? { ok: addresses.value.map(formatAddress) } : refuse(addresses.fault);
    },
    *release(pool, owner) {
      const store = owned(pool, owner);
      return store.ok ? witOutcome(yield* port.release(store.value, owner)) : refuse(store.fault);
    },
    *retain(pool, valid) {
      if (call.verb !== "gc") return refuse(misused(`only a GC may retain leases, this call is ${call.verb.toUpperCase()}`));
      const store = port.open(pool);
      return store.ok ? witOutcome(yield* port.retain(store.value, valid)) : refuse(store.fault);
    },
    // oxlint-disable-next-line require-yield -- a generator like the others, although it needs no lock
    *count(pool, ranges, limit) {
      const request = both(port.open(pool), readSpans(ranges));
      return request.ok ? witOutcome(port.count(request.value[0], request.value[1], limit)) : refuse(request.fault);
    },
    *probe(pool) {
      const store = port.open(pool);
      return store.ok ? witOutcome(yield* port.probe(store.value)) : refuse(store.fault);
    },
  };
}

/** The fault of an owner other than the call's attachment; undefined for the attachment. */
function ownerDenial({ verb, attachment }: LeaseCall, owner: LeaseOwner): Fault | undefined {
  if (attachment === undefined) return misused(`${verb.toUpperCase()} has no attachment that could own a lease`);
  if (owner.containerId === attachment.containerId && owner.ifname === attachment.ifname) return undefined;
  const requested = JSON.stringify(`${owner.containerId}/${owner.ifname}`);
  return misused(`owner ${requested} is not this call's attachment ${attachment.containerId}/${attachment.ifname}`);
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

/** Addresses from `first` to `last`, both included, of one family. */
export interface Span {
  readonly family: 4 | 6;
  readonly first: bigint;
  readonly last: bigint;
}

/**
 * The order in which addresses are reserved, as in native host-local: an address that was just released is the last to be reserved again.
 *
 * All addresses of `spans`, beginning after `last` and ending with `last`. If `last` is undefined or in no span, the first address is
 * the beginning. The generator makes each address when it is needed, because an IPv6 span can be huge.
 */
export function* roundRobin(spans: readonly Span[], last: IpAddress | undefined): Generator<IpAddress, undefined> {
  const at = last === undefined ? -1 : spans.findIndex((span) => contains(span, last));
  if (last === undefined || at < 0) {
    for (const span of spans) yield* within(span, span.first, span.last);
    return;
  }
  const start = spans[at];
  if (start === undefined) return;
  yield* within(start, last.value + 1n, start.last);
  for (let i = 1; i < spans.length; i++) {
    const span = spans[(at + i) % spans.length];
    if (span !== undefined) yield* within(span, span.first, span.last);
  }
  yield* within(start, start.first, last.value);
}

/** Whether the span has the address. */
export function contains(span: Span, address: IpAddress): boolean {
  return span.family === address.family && address.value >= span.first && address.value <= span.last;
}

function* within(span: Span, first: bigint, last: bigint): Generator<IpAddress, undefined> {
  for (let value = first; value <= last; value++) yield { family: span.family, value };
}
