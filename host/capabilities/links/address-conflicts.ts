// Addresses that exclude each other on one link. The node and the kit for authors have the same rule. No I/O.

import { type Cidr, cidrContains, readCidr } from "../../../src/net/ip.ts";

const linkLocal = readCidr("fe80::/10");

/**
 * Whether a link's address excludes another one: in IPv4 any address does, in IPv6 one with an overlapping network. The kernel gives each link a
 * link-local address, beside which a link-local gateway stands.
 */
export function excludes(current: Cidr, wanted: Cidr): boolean {
  if (current.address.family !== wanted.address.family) return false;
  if (linkLocal !== undefined && cidrContains(linkLocal, current.address)) return false;
  return wanted.address.family === 4 || cidrContains(current, wanted.address) || cidrContains(wanted, current.address);
}
