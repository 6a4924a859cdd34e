// The interface of an attachment in its result.

import { IpConfig, NetworkInterface, Success } from "./abi/types";

/** The result's entry for the interface; null if it is missing or of another namespace. */
export function entryOf(result: Success, ifname: string, netns: string | null): NetworkInterface | null {
  for (let i = result.interfaces.length - 1; i >= 0; i--) {
    const one = result.interfaces[i];
    if (one.name == ifname && one.sandbox !== null && one.sandbox == netns) return one;
  }
  return null;
}

/** The result's addresses, except those of other interfaces. */
export function ipsOfEntry(result: Success, entry: NetworkInterface): Array<IpConfig> {
  const found: Array<IpConfig> = [];
  for (let i = 0; i < result.ips.length; i++) {
    const at = result.ips[i].interface_;
    if (at !== null && at.value >= 0 && at.value < result.interfaces.length && result.interfaces[at.value] !== entry) continue;
    found.push(result.ips[i]);
  }
  return found;
}
