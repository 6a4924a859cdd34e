// Operations on leases in memory. A shadow runs them on a snapshot of a node's directory, and the kit for authors on the leases of a test.

import { ok, type Result } from "../../../src/fault/result.ts";
import { formatAddress, type IpAddress, readAddress } from "../../../src/net/ip.ts";
import { type LeaseOwner, type LeasePort, type Reservation, contains, roundRobin, type Span } from "./capability.ts";

/** The leases of one directory. Addresses are texts, as host-local names its files. */
export interface LeaseTable {
  /** The reserved addresses of all owners. */
  readonly reserved: () => Iterable<string>;
  readonly isReserved: (address: string) => boolean;
  readonly heldBy: (owner: LeaseOwner) => readonly IpAddress[];
  /** The addresses without an owner among these. */
  readonly staleBeside: (valid: readonly LeaseOwner[]) => readonly string[];
  /** The address that was reserved last in a range set. */
  readonly last: (set: number) => IpAddress | undefined;
  readonly take: (set: number, address: string, owner: LeaseOwner) => void;
  readonly drop: (address: string) => void;
}

/** A pool of a table: the number of its range set. */
export interface SimulatedPool {
  readonly set: number;
}

/* oxlint-disable require-yield -- generators like those on the disk, although they need no lock */
/** The operations of a port, but for the choice of the pool. */
export function simulatedLeases(table: LeaseTable): Omit<LeasePort<SimulatedPool>, "open"> {
  const dropAll = (addresses: readonly string[]): number => {
    for (const address of addresses) table.drop(address);
    return addresses.length;
  };
  return {
    *reserve({ set }, address, owner) {
      const text = formatAddress(address);
      if (table.isReserved(text)) return ok(false);
      table.take(set, text, owner);
      return ok(true);
    },
    *reserveNext({ set }, spans, skip, owner): Generator<never, Result<Reservation | undefined>> {
      const heldBefore = table.heldBy(owner).find((address) => spans.some((span) => contains(span, address)));
      if (heldBefore !== undefined) return ok({ address: heldBefore, heldBefore: true });
      const next = firstFree(table, spans, set, new Set(skip.map(formatAddress)));
      if (next === undefined) return ok(undefined);
      table.take(set, formatAddress(next), owner);
      return ok({ address: next, heldBefore: false });
    },
    held: (_, owner) => ok(table.heldBy(owner)),
    *release(_, owner) {
      return ok(dropAll(table.heldBy(owner).map(formatAddress)));
    },
    *retain(_, valid) {
      return ok(dropAll(table.staleBeside(valid)));
    },
    count: (_, spans, limit) => {
      const addresses = [...table.reserved()].flatMap((text) => readAddress(text) ?? []);
      return ok(Math.min(limit, addresses.filter((address) => spans.some((span) => contains(span, address))).length));
    },
    *probe() {
      return ok(undefined);
    },
  };
}
/* oxlint-enable require-yield */

function firstFree(table: LeaseTable, spans: readonly Span[], set: number, skipped: ReadonlySet<string>): IpAddress | undefined {
  for (const address of roundRobin(spans, table.last(set))) {
    const text = formatAddress(address);
    if (!skipped.has(text) && !table.isReserved(text)) return address;
  }
  return undefined;
}
