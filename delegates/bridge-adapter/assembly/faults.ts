// The delegate's own error codes (100 and up); README.md lists them.

import { Fault } from "plexus/abi/types";
import { ownFault } from "plexus/faults";
import { Settings } from "./settings";

/** The IPAM plugin's result cannot be used. */
export function unusableIpamResult(settings: Settings, what: string): Fault {
  return ownFault(100, `the result of the IPAM plugin ${settings.ipam} can't be used: ${what}`);
}

/** CHECK: the attachment differs from its result. */
export function differs(what: string): Fault {
  return ownFault(101, what);
}
