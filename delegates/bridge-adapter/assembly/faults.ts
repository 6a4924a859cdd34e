// The delegate's own error codes (100 and up); README.md lists them.

import { Fault } from "plexus/abi/types";
import { ownFault } from "plexus/faults";
import { Settings } from "./settings";

/** The IPAM plugin's result can't be used. */
export function unusable(settings: Settings, what: string): Fault {
  return ownFault(100, `the result of the IPAM plugin ${settings.ipam} can't be used: ${what}`);
}

/** CHECK: something is not as ADD left it. */
export function notAsAdded(what: string): Fault {
  return ownFault(101, what);
}
