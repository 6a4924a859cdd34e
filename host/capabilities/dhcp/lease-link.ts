// The link of a lease. A name does not tell it: the pod may rename its link, and the address of a lease that has ended would stay on it.

import type { LeaseRecord } from "../../../src/dhcp/lease-record.ts";
import { macText } from "../../system/netlink/bytes.ts";
import type { NetlinkSender } from "../../system/netlink/exchange.ts";
import { type LinkUnreadable, type PodLink, readPodLink } from "../announce/pod-link.ts";

/** The link, and whether it still has the lease's hardware address, so that the server knows its packets. */
export interface LeaseLink {
  readonly link: PodLink;
  readonly hasMac: boolean;
}

/**
 * Finds the lease's link in `netns`, by its index, which the kernel gives to no other link while the link lives, then by its name. Undefined: another link is
 * there. A link that a repair has made anew has another index.
 */
export async function leaseLink(
  shim: NetlinkSender,
  netns: string,
  lease: LeaseRecord,
): Promise<LeaseLink | LinkUnreadable | undefined> {
  const byIndex = lease.index === undefined ? undefined : await readPodLink(shim, netns, lease.index);
  if (byIndex !== undefined) {
    if (!("index" in byIndex) && !byIndex.entered) return byIndex;
    const own = "index" in byIndex ? ownLink(byIndex, lease) : undefined;
    if (own !== undefined) return own;
  }
  const byName = await readPodLink(shim, netns, lease.ifname);
  if (!("index" in byName)) return byName;
  return byName.mac !== undefined && macText(byName.mac) === macText(lease.mac) ? { link: byName, hasMac: true } : undefined;
}

/** The link with the lease's index, unless the index is another link's by now: that one has neither its hardware address nor its address. */
function ownLink(link: PodLink, { mac, terms }: LeaseRecord): LeaseLink | undefined {
  const hasMac = link.mac !== undefined && macText(link.mac) === macText(mac);
  return hasMac || link.addresses.has(terms.address) ? { link, hasMac } : undefined;
}
