// Generated from WIT by delegates/sdk/generator. Do not edit: run `node scripts/build-delegates.ts --bindings`.

// Capability `resolver`: the node's name resolution settings, for a delegate has no file system.
// The host answers the settings of a resolv.conf, never the file's text.

import * as _calls from "./calls";
import { DnsOrFault } from "./compounds";
export { Dns } from "./types";
export { Fault } from "./types";
export { DnsOrFault } from "./compounds";

/**
 * Reads a file in the format of resolv.conf(5). The host reads only the files that the administrator listed
 * (`/etc/resolv.conf` where nothing is listed), whatever path the configuration names.
 */
export function read(path: string): DnsOrFault {
  return _calls.resolver_read(path);
}
