// A chained delegate that tunes the pod's interface and the sysctls of its namespace. README.md has its configuration.

import { Fault, GcRequest, Network } from "plexus/abi/plugin";

export { add } from "./add";
export { check } from "./check";
export { del } from "./del";

/** A backup goes with its attachment's DEL. */
export function gc(_request: GcRequest): Fault | null {
  return null;
}

/** Nothing is needed that could be missing. */
export function status(_network: Network): Fault | null {
  return null;
}
