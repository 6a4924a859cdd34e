// A chained delegate that sets the pod's interface attributes and the sysctls of its namespace. README.md has its configuration.

import { Fault, GcRequest, StatusRequest } from "plexus/abi/plugin";

export { add } from "./add";
export { check } from "./check";
export { del } from "./del";

/** A backup is removed by its attachment's DEL, so nothing is stale. */
export function gc(_request: GcRequest): Fault | null {
  return null;
}

/** No resources are needed, so none can be missing. */
export function status(_request: StatusRequest): Fault | null {
  return null;
}
