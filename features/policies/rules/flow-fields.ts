// The fields of packets by which the rules at the node's end of a veth know a connection. A key has the other side's address before the pod's, whichever way the
// packet goes, so that both directions of a connection have one key.

import type { Family } from "../../../src/net/ip.ts";
import type { NodeMatch, PacketField } from "./table.ts";

/** The way of a packet, as the pod sees it. */
export type Way = "in" | "out";

/** Ethertypes by family, and that of ARP. */
export const ethertypes = { 4: 0x0800, 6: 0x86dd } as const;
export const ARP = 0x0806;
/** The ethertypes of a VLAN tag. A rule sees them behind the first tag only. */
export const vlanTags = [0x8100, 0x88a8] as const;

/** Numbers of transport protocols. */
export const protocols = { icmp: { 4: 1, 6: 58 }, tcp: 6, withPorts: [17, 33, 132, 136] } as const;

const headers = {
  4: { source: 12, destination: 16, size: 4, protocol: 9, length: 20 },
  6: { source: 8, destination: 24, size: 16, protocol: 6, length: 40 },
} as const;
/** An ICMP error has a word of its own between its header and the packet that it quotes. */
const quoteAt = 8;
const echoIdAt = 4;

/** The bytes of a header. */
export function bytesOf(of: "link" | "network" | "transport" | "fragment", offset: number, size: number): PacketField {
  return { of, offset, size };
}

const protocol: PacketField = { of: "protocol" };

/** The address of one side of a packet. */
export function addressField(family: Family, side: "source" | "destination"): PacketField {
  return bytesOf("network", headers[family][side], headers[family].size);
}

function addresses(family: Family, way: Way): readonly PacketField[] {
  const sides = way === "in" ? (["source", "destination"] as const) : (["destination", "source"] as const);
  return sides.map((side) => addressField(family, side));
}

/** The key of a packet with ports. */
export function portsKey(family: Family, way: Way): readonly PacketField[] {
  const ports = [bytesOf("transport", 0, 2), bytesOf("transport", 2, 2)];
  return [...addresses(family, way), protocol, ...(way === "in" ? ports : ports.toReversed())];
}

/** The key of an echo request and its reply, with the identifier in the place of both ports. */
export function echoKey(family: Family, way: Way): readonly PacketField[] {
  const id = bytesOf("transport", echoIdAt, 2);
  return [...addresses(family, way), protocol, id, id];
}

/** The key of a packet of a protocol that has no ports. */
export function protocolKey(family: Family, way: Way): readonly PacketField[] {
  return [...addresses(family, way), protocol, protocol, protocol];
}

/**
 * The key of the connection whose packet an ICMP error quotes. The quoted packet went the other way. The error's own destination stands for the quoted source: the
 * error reaches that side only.
 */
export function quotedKey(family: Family, way: Way, of: "ports" | "echo"): readonly PacketField[] {
  const { destination, size, protocol: protocolAt, length } = headers[family];
  const [receiver, other] = [addressField(family, "destination"), quoted(destination, size)];
  const ends = way === "in" ? [other, receiver] : [receiver, other];
  const id = quoted(length + echoIdAt, 2);
  const [source, target] = [quoted(length, 2), quoted(length + 2, 2)];
  const ports = of === "echo" ? [id, id] : way === "in" ? [target, source] : [source, target];
  return [...ends, quoted(protocolAt, 1), ...ports];
}

/** Bytes of the packet that an ICMP error quotes. */
function quoted(offset: number, bytes: number): PacketField {
  return bytesOf("transport", quoteAt + offset, bytes);
}

/** The quoted packet has no options, so that its ports are where `quotedKey` looks. IPv6: the next header, a part of the key, says so. */
export function quotesPlainHeader(family: Family): readonly NodeMatch[] {
  return family === 4 ? [is(bytesOf("transport", quoteAt, 1), [0x45])] : [];
}

/** The key of a datagram in fragments. */
export function fragmentKey(family: Family): readonly PacketField[] {
  const id = family === 4 ? bytesOf("network", 4, 2) : bytesOf("fragment", 4, 4);
  return [addressField(family, "source"), addressField(family, "destination"), id];
}

/** Conditions of a fragment behind the first one, and of any fragment. */
export function isFragment(family: Family, which: "later" | "any"): NodeMatch {
  if (family === 4) return isNot(bytesOf("network", 6, 2), [0, 0], which === "later" ? [0x1f, 0xff] : [0x3f, 0xff]);
  return isNot(bytesOf("fragment", 2, 2), [0, 0], which === "later" ? [0xff, 0xf8] : [0xff, 0xf9]);
}

/** Conditions of a packet whose transport header is where rules read ports. The kernel lets them read the data of a later fragment of IPv4 as ports. */
export function hasPorts(family: Family): readonly NodeMatch[] {
  return family === 4 ? [is(bytesOf("network", 6, 2), [0, 0], [0x1f, 0xff])] : [];
}

/** Whether a field has these bytes. */
export function is(field: PacketField, value: readonly number[], mask?: readonly number[]): NodeMatch {
  return { kind: "bytes", field, isNot: false, value, ...(mask === undefined ? {} : { mask }) };
}

/** Whether a field has other bytes. */
export function isNot(field: PacketField, value: readonly number[], mask?: readonly number[]): NodeMatch {
  return { kind: "bytes", field, isNot: true, value, ...(mask === undefined ? {} : { mask }) };
}
