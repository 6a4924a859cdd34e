// Generated from WIT by delegates/sdk/generator. Do not edit: run `node scripts/build-delegates.ts --bindings`.

// Capability `sysctl`: settings under `net` in the pod's network namespace. Keys are paths below /proc/sys: `net/ipv4/conf/eth0/rp_filter`.
// The grant lists the keys; `IFNAME` in a key stands for the attachment's interface.

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

/** Answers the values of the keys, in order. */
export function read(keys: Array<string>): TextListOrFault {
  return _calls.sysctl_read(keys);
}

/** Writes all settings, or none if one fails. Answers the earlier values, in order. */
export function write(settings: Array<Setting>): TextListOrFault {
  return _calls.sysctl_write(settings);
}
