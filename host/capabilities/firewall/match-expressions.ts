// Expressions that end a rule unless the packet or its link is as wanted. No I/O.

import type { IpAddress } from "../../../src/net/ip.ts";
import { u16be } from "./big-endian.ts";
import {
  addressBytes,
  DESTINATION_PORT_AT,
  FIRST_REGISTER,
  header,
  LINK_HEADER,
  meta,
  META_IIFNAME,
  META_L4PROTO,
  NETWORK_HEADER,
  payload,
  TRANSPORT_HEADER,
} from "./packet-values.ts";
import { ADDRESS_FAMILY, type Expression, expression, numberAttribute, dataAttribute, zeroEnded } from "./expressions.ts";

const SOURCE_MAC_AT = 6;
const HOP_LIMIT_AT = 7;
const META_IIF = 4;
const META_OIFNAME = 7;
const META_NFPROTO = 15;
/** Linux 5.6. */
const META_SDIFNAME = 34;
/** IFNAMSIZ. */
const LINK_NAME_BYTES = 16;
const RTN_LOCAL = 2;

/** Continues if the bytes in the first register are (not) these. */
export function compare(operation: "is" | "is not", bytes: Uint8Array): Expression {
  return expression(
    "cmp",
    numberAttribute(1, FIRST_REGISTER),
    numberAttribute(2, operation === "is" ? 0 : 1),
    dataAttribute(3, bytes),
  );
}

/** Clears the bits of the first register that the mask lacks. */
export function masked(mask: Uint8Array): Expression {
  const xor = new Uint8Array(mask.length);
  return expression(
    "bitwise",
    numberAttribute(1, FIRST_REGISTER),
    numberAttribute(2, FIRST_REGISTER),
    numberAttribute(3, mask.length),
    dataAttribute(4, mask),
    dataAttribute(5, xor),
  );
}

/** The bytes of a network mask with `prefix` one-bits. */
export function maskBytes(family: 4 | 6, prefix: number): Uint8Array {
  return Uint8Array.from(
    { length: header[family].size },
    (_, index) => (0xff00 >> Math.min(8, Math.max(0, prefix - 8 * index))) & 0xff,
  );
}

/** Continues if the packet's address is (not) in the network. Like nft, loads only the whole bytes of a prefix that has no partial byte. */
export function addressIn(
  which: "source" | "destination",
  operation: "is" | "is not",
  address: IpAddress,
  prefix?: number,
): readonly Expression[] {
  const { family } = address;
  const bytes = addressBytes(address);
  const bits = prefix ?? 8 * bytes.length;
  const size = bits % 8 === 0 ? bits / 8 : bytes.length;
  if (bits === 0 && operation === "is") return [];
  const load = payload(FIRST_REGISTER, NETWORK_HEADER, header[family][which], Math.max(1, size));
  if (bits % 8 === 0 && bits > 0) return [load, compare(operation, bytes.subarray(0, size))];
  const mask = maskBytes(family, bits).subarray(0, Math.max(1, size));
  const network = bytes.subarray(0, mask.length).map((byte, index) => byte & (mask[index] ?? 0));
  return [load, masked(mask), compare(operation, network)];
}

/** Continues if the packet has this protocol. */
export function protocolIs(protocol: number): readonly Expression[] {
  return [meta(FIRST_REGISTER, META_L4PROTO), compare("is", Uint8Array.of(protocol))];
}

/** Continues if the packet has this destination port. */
export function destinationPortIs(port: number): readonly Expression[] {
  return [payload(FIRST_REGISTER, TRANSPORT_HEADER, DESTINATION_PORT_AT, 2), compare("is", u16be(port))];
}

/** Continues if the packet did not come from the loopback, which is link 1 of each network namespace. */
export function notByLoopback(): readonly Expression[] {
  return [meta(FIRST_REGISTER, META_IIF), compare("is not", new Uint8Array(Uint32Array.of(1).buffer))];
}

/** Continues if the packet's destination is an address of the node. */
export function destinationIsLocal(): readonly Expression[] {
  const [type, destination] = [3, 2];
  const local = new Uint8Array(Uint32Array.of(RTN_LOCAL).buffer);
  return [
    expression("fib", numberAttribute(1, FIRST_REGISTER), numberAttribute(2, type), numberAttribute(3, destination)),
    compare("is", local),
  ];
}

/** Continues if the packet came in or goes out by the link of this name, which need not exist. */
export function linkIs(direction: "in" | "out", name: string): readonly Expression[] {
  return [meta(FIRST_REGISTER, direction === "in" ? META_IIFNAME : META_OIFNAME), compare("is", linkName(name))];
}

/** Continues if the packet came in by the link of this name, and the link is in a VRF. Chains of the hooks input and forward may ask this. */
export function vrfPortIs(name: string): readonly Expression[] {
  return [meta(FIRST_REGISTER, META_SDIFNAME), compare("is", linkName(name))];
}

function linkName(name: string): Uint8Array {
  const bytes = new Uint8Array(LINK_NAME_BYTES);
  new TextEncoder().encodeInto(name, bytes);
  return bytes;
}

/** Like `linkIs`, in the form in which iptables writes it; `is not` for all other links. */
export function linkNamed(direction: "in" | "out", operation: "is" | "is not", name: string): readonly Expression[] {
  return [meta(FIRST_REGISTER, direction === "in" ? META_IIFNAME : META_OIFNAME), compare(operation, zeroEnded(name))];
}

/** Continues if the packet is of this IP version. Rules of `inet` tables ask this before they look into the IP header. */
export function familyIs(family: 4 | 6): readonly Expression[] {
  return [meta(FIRST_REGISTER, META_NFPROTO), compare("is", Uint8Array.of(ADDRESS_FAMILY[family]))];
}

/** Continues if a port of the packet is in the range, both ends included. */
export function portIn(which: "source" | "destination", first: number, last: number): readonly Expression[] {
  const load = payload(FIRST_REGISTER, TRANSPORT_HEADER, which === "source" ? 0 : DESTINATION_PORT_AT, 2);
  return [load, first === last ? compare("is", u16be(first)) : between(u16be(first), u16be(last))];
}

/** Continues if the type of the ICMP or ICMPv6 message is in the range, both ends included. */
export function messageTypeIn(first: number, last: number): readonly Expression[] {
  return [payload(FIRST_REGISTER, TRANSPORT_HEADER, 0, 1), between(Uint8Array.of(first), Uint8Array.of(last))];
}

/** Continues if the IPv6 packet has this hop limit. */
export function hopLimitIs(limit: number): readonly Expression[] {
  return [payload(FIRST_REGISTER, NETWORK_HEADER, HOP_LIMIT_AT, 1), compare("is", Uint8Array.of(limit))];
}

function between(first: Uint8Array, last: Uint8Array): Expression {
  return expression(
    "range",
    numberAttribute(1, FIRST_REGISTER),
    numberAttribute(2, 0),
    dataAttribute(3, first),
    dataAttribute(4, last),
  );
}

/** Continues if the frame has another source MAC. */
export function sourceMacIsNot(mac: Uint8Array): readonly Expression[] {
  return [payload(FIRST_REGISTER, LINK_HEADER, SOURCE_MAC_AT, mac.length), compare("is not", mac)];
}
