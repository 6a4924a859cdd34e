// Echo requests of ICMP (RFC 792) and ICMPv6 (RFC 4443) as packets, and what their answers say.

import type { IpAddress } from "../../../src/net/ip.ts";

/** An echo request. */
export interface EchoRequest {
  readonly source: Uint8Array;
  readonly target: Uint8Array;
  readonly identifier: number;
  /** Bytes of the whole packet with its IP header, even. */
  readonly size: number;
}

/** An answer: a reply, or an error. `mtu`: the MTU that a router names for a packet that is too big. */
export type EchoAnswer =
  | { readonly kind: "reply" }
  | { readonly kind: "too-big"; readonly mtu: number | undefined }
  | { readonly kind: "unreachable" };

const IPV4_HEADER = 20;
const IPV6_HEADER = 40;
const ICMP_HEADER = 8;
const ICMP = 1;
const ICMPV6 = 58;
const HOP_LIMIT = 64;
/** The largest packet that the effect ASK sends. */
const maxEcho = 1500;

/** The smallest packet of a family, in bytes. */
export const smallestEcho: Readonly<Record<IpAddress["family"], number>> = { 4: 64, 6: 88 };

/** The bytes of an echo request that fills a packet of this MTU. A pod may give its link an MTU below any packet's header. */
export function fullEcho(family: IpAddress["family"], mtu: number): number {
  return Math.max(smallestEcho[family], Math.min(mtu, maxEcho) & ~1);
}

/** The packet with its IP header. IPv4: don't fragment. */
export function echoPacket(family: IpAddress["family"], { source, target, identifier, size }: EchoRequest): Uint8Array {
  const header = family === 4 ? IPV4_HEADER : IPV6_HEADER;
  const packet = new Uint8Array(size);
  const view = new DataView(packet.buffer);
  const message = packet.subarray(header);
  message[0] = family === 4 ? 8 : 128;
  view.setUint16(header + 4, identifier);
  view.setUint16(header + 6, 1);
  if (family === 4) {
    packet.set([0x45, 0, size >> 8, size & 0xff, identifier >> 8, identifier & 0xff, 0x40, 0, HOP_LIMIT, ICMP]);
    packet.set(source, 12);
    packet.set(target, 16);
    view.setUint16(10, checksum(packet.subarray(0, IPV4_HEADER)));
    view.setUint16(header + 2, checksum(message));
    return packet;
  }
  packet.set([0x60, 0, 0, 0, message.length >> 8, message.length & 0xff, ICMPV6, HOP_LIMIT]);
  packet.set(source, 8);
  packet.set(target, 24);
  const pseudo = new Uint8Array(IPV6_HEADER + message.length);
  pseudo.set(source, 0);
  pseudo.set(target, 16);
  pseudo.set([message.length >> 8, message.length & 0xff, 0, 0, 0, ICMPV6], 34);
  pseudo.set(message, IPV6_HEADER);
  view.setUint16(header + 2, checksum(pseudo));
  return packet;
}

/** Reads an answer; undefined for one of another request. */
export function echoAnswerIn(family: IpAddress["family"], packet: Uint8Array, identifier: number): EchoAnswer | undefined {
  const header = family === 4 ? ((packet[0] ?? 0) & 15) * 4 : IPV6_HEADER;
  if (packet.length < header + ICMP_HEADER) return undefined;
  const view = new DataView(packet.buffer, packet.byteOffset, packet.byteLength);
  const [type, code] = [packet[header], packet[header + 1]];
  if (type === (family === 4 ? 0 : 129)) return view.getUint16(header + 4) === identifier ? { kind: "reply" } : undefined;
  const quoted = header + ICMP_HEADER;
  const inner = quoted + (family === 4 ? ((packet[quoted] ?? 0) & 15) * 4 : IPV6_HEADER);
  if (packet.length < inner + 6 || view.getUint16(inner + 4) !== identifier) return undefined;
  const isTooBig = family === 4 ? type === 3 && code === 4 : type === 2;
  if (!isTooBig) return { kind: "unreachable" };
  const mtu = family === 4 ? view.getUint16(header + 6) : view.getUint32(header + 4);
  return { kind: "too-big", mtu: mtu === 0 ? undefined : mtu };
}

/** The Internet checksum (RFC 1071) of an even number of bytes. */
function checksum(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let sum = 0;
  for (let at = 0; at + 1 < bytes.length; at += 2) sum += view.getUint16(at);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}
