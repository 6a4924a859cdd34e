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
 * Which set of leases of this network. `directory` is the configuration's `dataDir`, absent for the default:
 * the host allows only those that the administrator listed. `set` numbers the range set (0, 1, ...): the
 * position to continue from is kept for each set.
 */
export class Pool {
  directory: string | null = null;
  set: u32;

  constructor(set: u32) {
    this.set = set;
  }
}

/** What `reserve-next` found. */
export class Reservation {
  address: string;
  /** True: the owner held this address before, and nothing was reserved now. */
  heldBefore: bool;

  constructor(address: string, heldBefore: bool) {
    this.address = address;
    this.heldBefore = heldBefore;
  }
}

/** Reserves exactly this address, atomically. False: it is taken (by anyone, the owner included). */
export function reserve(pool: Pool, address: string, owner: types_AttachmentId): BoolOrFault {
  return _calls.leases_reserve(pool, address, owner);
}

/**
 * Reserves the first free address after the last one reserved in this set, through `ranges` in order, once
 * around, leaving out `skip`; an owner that holds an address of `ranges` is told that one instead. None: no address is free.
 */
export function reserveNext(pool: Pool, ranges: Array<AddressRange>, skip: Array<string>, owner: types_AttachmentId): OptionalReservationOrFault {
  return _calls.leases_reserveNext(pool, ranges, skip, owner);
}

/** The addresses that this owner holds, in all sets. */
export function held(pool: Pool, owner: types_AttachmentId): TextListOrFault {
  return _calls.leases_held(pool, owner);
}

/** Gives back all that this owner holds, in all sets; answers how many. Nothing held is no error. */
export function release(pool: Pool, owner: types_AttachmentId): U32OrFault {
  return _calls.leases_release(pool, owner);
}

/** GC only: gives back what nobody in `valid` holds; answers how many. */
export function retain(pool: Pool, valid: Array<types_AttachmentId>): U32OrFault {
  return _calls.leases_retain(pool, valid);
}

/** How many addresses within `ranges` are held; at most `limit` are counted. */
export function count(pool: Pool, ranges: Array<AddressRange>, limit: u32): U32OrFault {
  return _calls.leases_count(pool, ranges, limit);
}

/** Whether the store can be used now (STATUS). */
export function probe(pool: Pool): types_Fault | null {
  return _calls.leases_probe(pool);
}
