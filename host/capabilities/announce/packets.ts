// Makes the packets that announce an address to neighbours or probe for it, without their link-layer header, and reads the answers. No I/O.

import type { IpAddress } from "../../../src/net/ip.ts";
import type { LinkPacket } from "../../protocol/messages.ts";
import { addressBytes, addressText, concat } from "../../system/netlink/bytes.ts";

const ETHERTYPE_ARP = 0x0806;
const ETHERTYPE_IPV6 = 0x86dd;
const BROADCAST = new Uint8Array(6).fill(0xff);

/** Hardware type 1 (Ethernet), protocol IPv4, the lengths of both kinds of address, operation 1 (request). */
const ARP_HEAD = Uint8Array.of(0, 1, 8, 0, 6, 4, 0, 1);

/** ff02::1 (all nodes of the link), and its Ethernet multicast address (RFC 2464 section 7). */
const ALL_NODES = Uint8Array.of(0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1);
const ALL_NODES_HARDWARE = Uint8Array.of(0x33, 0x33, 0, 0, 0, 1);
const ICMPV6 = 58;
const NEIGHBOUR_ADVERTISEMENT = 136;
/** Receivers drop a packet with another hop limit, because it may have come through a router (RFC 4861 section 7.1.2). */
const HOP_LIMIT = 255;
const ROUTER = 0x80;
const OVERRIDE = 0x20;
const TARGET_HARDWARE_ADDRESS = 2;

/**
 * The packet for one address. IPv4: an ARP announcement, a request for the sender's own address (RFC 5227 section 2.3), as the kernel's
 * arp_notify and the reference plugins send it. IPv6: an unsolicited neighbour advertisement with the override flag (RFC 4861
 * section 7.2.6). `router`: whether the interface forwards IPv6; without the flag, neighbours stop using it as a router.
 */
export function announcement(address: IpAddress, mac: Uint8Array, router: boolean): LinkPacket {
  const ip = addressBytes(address);
  if (address.family === 4) {
    const payload = concat([ARP_HEAD, mac, ip, new Uint8Array(mac.length), ip]);
    return { ethertype: ETHERTYPE_ARP, destination: BROADCAST, payload };
  }
  const flags = Uint8Array.of(OVERRIDE | (router ? ROUTER : 0), 0, 0, 0);
  const option = concat([Uint8Array.of(TARGET_HARDWARE_ADDRESS, 1), mac]);
  const message = concat([Uint8Array.of(NEIGHBOUR_ADVERTISEMENT, 0, 0, 0), flags, ip, option]);
  const sum = checksum(concat([ip, ALL_NODES, Uint8Array.of(0, 0, 0, message.length, 0, 0, 0, ICMPV6), message]));
  message.set([sum >> 8, sum & 0xff], 2);
  const header = Uint8Array.of(0x60, 0, 0, 0, 0, message.length, ICMPV6, HOP_LIMIT);
  return { ethertype: ETHERTYPE_IPV6, destination: ALL_NODES_HARDWARE, payload: concat([header, ip, ALL_NODES, message]) };
}

/** ff02::1:ff00:0/104, the beginning of a solicited-node address (RFC 4291 section 2.7.1). */
const SOLICITED_NODE = Uint8Array.of(0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff);
const NEIGHBOUR_SOLICITATION = 135;

/** The question whether a neighbour has the address. IPv4: an ARP probe (RFC 5227 section 2.1.1). IPv6: duplicate address detection (RFC 4862 section 5.4.2). */
export function probePacket(address: IpAddress, mac: Uint8Array): LinkPacket {
  const ip = addressBytes(address);
  if (address.family === 4) {
    const payload = concat([ARP_HEAD, mac, new Uint8Array(4), new Uint8Array(mac.length), ip]);
    return { ethertype: ETHERTYPE_ARP, destination: BROADCAST, payload };
  }
  const end = ip.subarray(13);
  const group = concat([SOLICITED_NODE, end]);
  const message = concat([Uint8Array.of(NEIGHBOUR_SOLICITATION, 0, 0, 0, 0, 0, 0, 0), ip]);
  const unspecified = new Uint8Array(16);
  const sum = checksum(concat([unspecified, group, Uint8Array.of(0, 0, 0, message.length, 0, 0, 0, ICMPV6), message]));
  message.set([sum >> 8, sum & 0xff], 2);
  const header = Uint8Array.of(0x60, 0, 0, 0, 0, message.length, ICMPV6, HOP_LIMIT);
  const destination = concat([Uint8Array.of(0x33, 0x33, 0xff), end]);
  return { ethertype: ETHERTYPE_IPV6, destination, payload: concat([header, unspecified, group, message]) };
}

/** The address that a collected packet is about, and the MAC of the host that has the address or probes for it; undefined if the packet is too short. */
export function claimIn({
  ethertype,
  destination,
  payload,
}: LinkPacket): { readonly address: string; readonly mac: Uint8Array } | undefined {
  if (ethertype === ETHERTYPE_IPV6) {
    const target = addressText(payload.subarray(48, 64), 6);
    return target === undefined ? undefined : { address: target, mac: destination };
  }
  const sender = payload.subarray(14, 18);
  // Another host's probe has no sender.
  const about = addressText(sender.every((byte) => byte === 0) ? payload.subarray(24, 28) : sender, 4);
  return about === undefined ? undefined : { address: about, mac: payload.subarray(8, 14) };
}

/** The Internet checksum (RFC 1071) of an even number of bytes. */
function checksum(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let sum = 0;
  for (let at = 0; at < bytes.length; at += 2) sum += view.getUint16(at);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}
