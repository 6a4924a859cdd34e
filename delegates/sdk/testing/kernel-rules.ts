// The kernel's refusals of a simulated link's settings, addresses and neighbours. test/kit/kernel-agrees.test.ts compares them with the kernel.

import { readAddress, readCidr } from "../../../src/net/ip.ts";
import type { LinksLink } from "../../../host/sandbox/abi/generated/delegate-1.1.0.ts";
import { Refusal } from "./refusal.ts";

/** A simulated link, as far as the rules depend on it. */
interface RuledLink {
  readonly link: LinksLink;
  readonly ipv6Disabled?: boolean;
}

/** `ETH_MIN_MTU` and `ETH_MAX_MTU`, for the kinds that have both bounds. */
const minMtu = 68;
const maxMtu = 0xffff;
const boundedKinds: ReadonlySet<string> = new Set(["bridge", "veth", "macvlan"]);
/** `IPV6_MIN_MTU`: below it a link has no IPv6. */
const minIpv6Mtu = 1280;
const masterKinds: ReadonlySet<string> = new Set(["bridge", "vrf", "bond", "team"]);

/** Throws a Refusal for an MTU that no link of the kind can have. */
export function refuseMtu(kind: string, mtu: number | undefined): void {
  if (mtu === undefined || !boundedKinds.has(kind)) return;
  if (mtu < minMtu) throw new Refusal(`mtu less than device minimum: ${mtu} is below ${minMtu}`);
  if (mtu > maxMtu) throw new Refusal(`mtu greater than device maximum: ${mtu} is above ${maxMtu}`);
}

/** Throws a Refusal for a MAC that no link can have: a multicast address, or zero. */
export function refuseMac(mac: string | undefined): void {
  if (mac === undefined) return;
  const bytes = mac.split(/[:-]/).map((byte) => Number.parseInt(byte, 16));
  const isGroup = ((bytes[0] ?? 0) & 1) === 1;
  if (isGroup || bytes.every((byte) => byte === 0)) throw new Refusal(`address not available: ${mac} is not a link's MAC`);
}

/** Throws a Refusal for a master that takes no other links. */
export function refuseMaster({ link }: RuledLink, joining: string): void {
  if (!masterKinds.has(link.kind) || link.name === joining)
    throw new Refusal(`operation not supported: ${link.name} is no bridge, VRF or bond that ${joining} can join`);
}

/** Whether the link can have IPv6 addresses now. */
export function hasIpv6({ link, ipv6Disabled }: RuledLink): boolean {
  return link.mtu >= minIpv6Mtu && ipv6Disabled !== true;
}

/** Throws a Refusal for an IPv6 address that the link cannot have. Of IPv4, the kernel refuses none. */
export function refuseAddress(known: RuledLink, text: string): void {
  const { link } = known;
  const cidr = readCidr(text);
  if (cidr?.address.family !== 6) return;
  const { value } = cidr.address;
  if (!hasIpv6(known)) throw new Refusal(`${link.name} has no IPv6: its MTU is below ${minIpv6Mtu}, or disable_ipv6 is set`);
  if (value === 0n) throw new Refusal(`${text} is not a link's address`);
  if (isMulticast(text)) throw new Refusal(`${text} is a multicast address`);
  if (value === 1n && link.name !== "lo") throw new Refusal(`${text} is the loopback address, and ${link.name} is not lo`);
  // The kernel compares addresses of IPv6 without their prefix lengths.
  const isAssigned = link.addresses.some(({ address }) => {
    const existing = readCidr(address);
    return existing?.address.family === 6 && existing.address.value === value;
  });
  if (isAssigned) throw new Refusal(`${link.name} already has the address of ${text}`);
}

/** Whether the kernel ignores the address: it adds no 0.0.0.0, and reports success. */
export function isIgnoredAddress(text: string): boolean {
  const cidr = readCidr(text);
  return cidr?.address.family === 4 && cidr.address.value === 0n;
}

/** Whether an address or a destination is a multicast address: 224.0.0.0/4 or ff00::/8. */
export function isMulticast(text: string): boolean {
  const address = readCidr(text)?.address ?? readAddress(text);
  if (address === undefined) return false;
  return address.family === 4 ? BigInt(address.value) >> 28n === 0xen : BigInt(address.value) >> 120n === 0xffn;
}

/** Throws a Refusal if a link has the name, also as an alternative name. */
export function refuseTakenName(links: readonly RuledLink[], name: string): void {
  const owner = links.find(({ link }) => link.name === name || link.alternativeNames.includes(name));
  if (owner !== undefined) throw new Refusal(`file already exists: ${owner.link.name} has the name ${name}`);
}

/** Throws a Refusal for a link that is not the port of a bridge. */
export function refuseNoPort({ link }: RuledLink): void {
  if (link.master === undefined) throw new Refusal(`operation not supported: ${link.name} is not the port of a bridge`);
}
