// The delegate's own error codes (100 and up); README.md lists them.

import { Fault } from "plexus/abi/types";
import { ownFault, withDetails } from "plexus/faults";
import { RangeSet } from "./range-set";

/** Every address of a range set is taken. */
export function exhausted(set: RangeSet): Fault {
  return withDetails(
    ownFault(100, `no address is free in ${set.toString()}`),
    "Widen the ranges, or release the leases of containers that are gone: a runtime with CNI 1.1.0 does so with GC.",
  );
}

/** A requested address is not available. */
export function unavailable(what: string): Fault {
  return ownFault(101, what);
}

/** This attachment has an address already: a DEL must precede the next ADD. */
export function duplicate(address: string, containerId: string, ifname: string): Fault {
  return withDetails(
    ownFault(102, `${containerId}/${ifname} has ${address} already: an attachment gets one address from each range set`),
    "Send DEL before the next ADD.",
  );
}

/** CHECK: the attachment does not hold its address. */
export function notHeld(what: string): Fault {
  return ownFault(103, what);
}
