// Generated from WIT by delegates/sdk/generator. Do not edit: run `node scripts/build-delegates.ts --bindings`.

// Capability `leases`: address reservations, each with an owner. All functions act on the network of the call;
// ADD, DEL and CHECK may only name the attachment of the call as owner.

import * as _calls from "./calls";
import { BoolOrFault, OptionalReservationOrFault, TextListOrFault, U32OrFault } from "./compounds";
import { AttachmentId as types_AttachmentId } from "./types";
import { Fault as types_Fault } from "./types";
export { AttachmentId } from "./types";
export { Fault } from "./types";
export { BoolOrFault, OptionalReservationOrFault, TextListOrFault, U32OrFault } from "./compounds";

/** Addresses from `first` to `last`, both included, of one family, without prefix length. */
export class AddressRange {
  first: string;
  last: string;

  constructor(first: string, last: string) {
    this.first = first;
    this.last = last;
  }
}

/**
 * A set of leases of this network. `directory` is the configuration's `dataDir`, absent for the default:
 * the host allows only directories that the administrator listed. `set` is the number of the range set (0, 1, ...):
 * the host keeps the last reserved address of each set.
 */
export class Pool {
  directory: string | null = null;
  set: u32;

  constructor(set: u32) {
    this.set = set;
  }
}

/** The result of `reserve-next`. */
export class Reservation {
  address: string;
  /** True: the owner held this address before, and nothing was reserved now. */
  heldBefore: bool;

  constructor(address: string, heldBefore: bool) {
    this.address = address;
    this.heldBefore = heldBefore;
  }
}

/**
 * Reserves exactly this address, atomically. False: the address is taken (by any owner, the caller included).
 * True: the address is also the last one reserved in this set, after which the next `reserve-next` begins.
 */
export function reserve(pool: Pool, address: string, owner: types_AttachmentId): BoolOrFault {
  return _calls.leases_reserve(pool, address, owner);
}

/**
 * Reserves the first free address after the last one reserved in this set, through `ranges` in order, once
 * around, without the addresses of `skip`. If the owner holds an address of `ranges`, the answer is that address. None: no address is free.
 */
export function reserveNext(pool: Pool, ranges: Array<AddressRange>, skip: Array<string>, owner: types_AttachmentId): OptionalReservationOrFault {
  return _calls.leases_reserveNext(pool, ranges, skip, owner);
}

/** The addresses that this owner holds, in all sets. */
export function held(pool: Pool, owner: types_AttachmentId): TextListOrFault {
  return _calls.leases_held(pool, owner);
}

/** Releases all addresses of this owner, in all sets, and answers their number. An owner without addresses is no error. */
export function release(pool: Pool, owner: types_AttachmentId): U32OrFault {
  return _calls.leases_release(pool, owner);
}

/** GC only: releases all addresses whose owner is not in `valid`, and answers their number. */
export function retain(pool: Pool, valid: Array<types_AttachmentId>): U32OrFault {
  return _calls.leases_retain(pool, valid);
}

/** Counts the held addresses within `ranges`, up to `limit`. */
export function count(pool: Pool, ranges: Array<AddressRange>, limit: u32): U32OrFault {
  return _calls.leases_count(pool, ranges, limit);
}

/** Succeeds if the store can be used now (STATUS). */
export function probe(pool: Pool): types_Fault | null {
  return _calls.leases_probe(pool);
}
