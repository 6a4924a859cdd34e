// Generated from WIT by delegates/sdk/generator. Do not edit: run `node scripts/build-delegates.ts --bindings`.

// Capability `delegation`: calls another plugin, native or a delegate, for the same attachment, by the CNI specification's section 4:
// same environment, same configuration. If the plugin's ADD fails, the host runs its DEL before it answers the fault.
// The grant lists the types. Within ADD only `add` and `del` may be called, else the function of the call's own verb.

import * as _calls from "./calls";
import { SuccessOrFault } from "./compounds";
import { Fault as types_Fault } from "./types";
export { Success } from "./types";
export { Fault } from "./types";
export { SuccessOrFault } from "./compounds";

/** `config`: a JSON object in place of the call's own configuration; `cniVersion`, `name` and `prevResult` are always the call's. */
export function add(type: string, config: string | null): SuccessOrFault {
  return _calls.delegation_add(type, config);
}

export function del(type: string, config: string | null): types_Fault | null {
  return _calls.delegation_del(type, config);
}

export function check(type: string, config: string | null): types_Fault | null {
  return _calls.delegation_check(type, config);
}

export function gc(type: string, config: string | null): types_Fault | null {
  return _calls.delegation_gc(type, config);
}

export function status(type: string, config: string | null): types_Fault | null {
  return _calls.delegation_status(type, config);
}
