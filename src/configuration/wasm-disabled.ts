// The fault of every component while the administrator has switched components off (`wasm.enabled`).

import { type Fault, fault } from "../fault/fault.ts";

/** Fault WASM_DISABLED (11) for the component at `path`. */
export function wasmDisabled(type: string, path: string): Fault {
  return fault("WASM_DISABLED", `${type}: ${path} is a component, and components are switched off (wasm.enabled is false)`);
}
