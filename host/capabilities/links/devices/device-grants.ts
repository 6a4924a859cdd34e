// The devices of the node that a grant names (`links.devices`): by the link's name, its MAC, the PCI address or the driver.

import { matchesPattern } from "../../../../src/configuration/grant-patterns.ts";
import type { LinksDeviceFacts } from "../../../sandbox/abi/generated/delegate-1.1.0.ts";
import type { LinkState } from "../../../system/netlink/link-state.ts";

/** A device as a grant sees it. `link`: undefined for a device that a driver of user space has. */
export interface GrantedDevice {
  readonly link: Pick<LinkState, "name" | "mac" | "permanentMac" | "linkNamespace"> | undefined;
  readonly facts: LinksDeviceFacts;
}

/**
 * Whether one of the patterns names the device. A name with a wildcard never means a link whose other end is in another namespace: that is the node's
 * end of some pod's veth. The loopback cannot be granted.
 */
export function isGrantedDevice(patterns: readonly string[], { link, facts }: GrantedDevice): boolean {
  if (link?.name === "lo") return false;
  return patterns.some((pattern) => {
    const [, property = "", wanted = pattern] = /^(mac|pci|driver):(.*)$/u.exec(pattern) ?? [];
    if (property === "mac") {
      const macs = link === undefined ? [] : [link.mac, link.permanentMac];
      return macs.some((mac) => mac !== "" && matchesPattern(wanted.toLowerCase(), mac));
    }
    if (property === "pci") return facts.pciAddress !== undefined && matchesPattern(wanted.toLowerCase(), facts.pciAddress);
    if (property === "driver") return facts.driver !== undefined && matchesPattern(wanted, facts.driver);
    if (link === undefined || (link.linkNamespace !== undefined && wanted.includes("*"))) return false;
    return matchesPattern(wanted, link.name);
  });
}
