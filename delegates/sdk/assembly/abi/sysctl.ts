// Generated from WIT by delegates/sdk/generator. Do not edit: run `node scripts/build-delegates.ts --bindings`.

// Capability `sysctl`: settings under `net` in the pod's network namespace. Keys are paths below /proc/sys: `net/ipv4/conf/eth0/rp_filter`.
// The grant lists them; `IFNAME` in it stands for the attachment's interface.

import * as _calls from "./calls";
import { TextListOrFault } from "./compounds";
export { Fault } from "./types";
export { TextListOrFault } from "./compounds";

export class Setting {
  key: string;
  value: string;

  constructor(key: string, value: string) {
    this.key = key;
    this.value = value;
  }
}

/** Their values, in order. */
export function read(keys: Array<string>): TextListOrFault {
  return _calls.sysctl_read(keys);
}

/** Writes all or, where one fails, none; answers the values that they had. */
export function write(settings: Array<Setting>): TextListOrFault {
  return _calls.sysctl_write(settings);
}
