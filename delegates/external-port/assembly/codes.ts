// The delegate's own error codes (100 and up); README.md lists them.

import { Fault } from "plexus/abi/types";
import { ownFault } from "plexus/faults";

/** The master does not exist. */
export const NO_MASTER: u32 = 100;
/** CHECK: the interface or the switch's port differs from the fabric's port or the result. */
export const DIFFERS: u32 = 101;

/** The fault of CHECK. */
export function differs(what: string): Fault {
  return ownFault(DIFFERS, what);
}
