// Generated from WIT by delegates/sdk/generator. Do not edit: run `node scripts/build-delegates.ts --bindings`.

// Capability `state`: one small text for the attachment, kept on the node until `remove`.

import * as _calls from "./calls";
import { OptionalTextOrFault } from "./compounds";
import { Fault as types_Fault } from "./types";
export { Fault } from "./types";
export { OptionalTextOrFault } from "./compounds";

/**
 * `directory` is the configuration's, absent for the default; the host allows only directories that the administrator listed. The file
 * is `<container ID>_<ifname>.json`.
 */
export function load(directory: string | null): OptionalTextOrFault {
  return _calls.state_load(directory);
}

export function save(directory: string | null, text: string): types_Fault | null {
  return _calls.state_save(directory, text);
}

/** Succeeds also if there is no text. */
export function remove(directory: string | null): types_Fault | null {
  return _calls.state_remove(directory);
}
