// Frames for tests of rules that judge them: Ethernet with VLAN tags, IPv4 with options, IPv6 with extension headers, fragments, ARP and neighbour advertisements.

import { addressBytes } from "../../../host/system/netlink/bytes.ts";
import { readAddress } from "../../../src/net/ip.ts";

const u16 = (value: number): readonly number[] => [value >> 8, value & 0xff];

/** The bytes of an address as a text. */
export function bytesOf(text: string): readonly number[] {
  const address = readAddress(text);
  if (address === undefined) throw new TypeError(`${text} is no address`);
  return [...addressBytes(address)];
}

/** The bytes of a MAC. */
export function macOf(text: string): readonly number[] {
  return text.split(":").map((byte) => Number.parseInt(byte, 16));
}

/** A VLAN tag: its ethertype and its VLAN. */
export type Tag = readonly [type: 0x8100 | 0x88a8, vlan: number];

/** An Ethernet frame. */
export function frame(
  { from, to, tags = [] }: { readonly from: readonly number[]; readonly to: readonly number[]; readonly tags?: readonly Tag[] },
  type: number,
  payload: readonly number[],
): readonly number[] {
  return [...to, ...from, ...tags.flatMap(([tag, vlan]) => [...u16(tag), ...u16(vlan)]), ...u16(type), ...payload];
}

/** The settings of an IPv4 packet beside its addresses. */
export interface Ipv4Init {
  readonly options?: readonly number[];
  readonly id?: number;
  /** The offset of a fragment in units of 8 bytes, and whether more fragments follow. */
  readonly fragment?: readonly [offset: number, more: boolean];
  /** The first byte, in place of version and length. */
  readonly first?: number;
}

/** An IPv4 packet. */
export function ipv4(
  source: string,
  destination: string,
  protocol: number,
  payload: readonly number[],
  { options = [], id = 1, fragment = [0, false], first }: Ipv4Init = {},
): readonly number[] {
  const words = 5 + options.length / 4;
  const [offset, more] = fragment;
  const start = [first ?? 0x40 + words, 0, ...u16(4 * words + payload.length), ...u16(id), ...u16(offset + (more ? 0x2000 : 0))];
  const header = [...start, 64, protocol, 0, 0, ...bytesOf(source), ...bytesOf(destination), ...options];
  let sum = 0;
  for (let at = 0; at < header.length; at += 2) sum += ((header[at] ?? 0) << 8) + (header[at + 1] ?? 0);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  header.splice(10, 2, ...u16(~sum & 0xffff));
  return [...header, ...payload];
}

/** An extension header of IPv6 without its first byte, which names the next header. */
export type Extension = readonly [type: number, rest: readonly number[]];

/** Options of 8 bytes: hop-by-hop (0), destination (60). `bytes`: the content of a padding option. */
export function padding(type: 0 | 60, bytes: readonly [number, number, number, number] = [0, 0, 0, 0]): Extension {
  return [type, [0, 1, 4, ...bytes]];
}

/** A fragment header. The offset is in units of 8 bytes. */
export function fragmentHeader(id: number, offset: number, more: boolean): Extension {
  return [44, [0, ...u16(8 * offset + (more ? 1 : 0)), 0, 0, ...u16(id)]];
}

/** An IPv6 packet. */
export function ipv6(
  source: string,
  destination: string,
  protocol: number,
  payload: readonly number[],
  extensions: readonly Extension[] = [],
): readonly number[] {
  const next = (index: number): number => extensions[index]?.[0] ?? protocol;
  const headers = extensions.flatMap(([, rest], index) => [next(index + 1), ...rest]);
  const start = [0x60, 0, 0, 0, ...u16(headers.length + payload.length), next(0), 255];
  return [...start, ...bytesOf(source), ...bytesOf(destination), ...headers, ...payload];
}

/** The first bytes of a datagram, or of the segment that opens a TCP connection. */
export function transport(protocol: number, port: number): readonly number[] {
  const ports = [...u16(40_000), ...u16(port)];
  return protocol === 6 ? [...ports, 0, 0, 0, 0, 0, 0, 0, 0, 0x50, 2, 0, 0, 0, 0, 0, 0] : [...ports, 0, 40, 0, 0];
}

/** An ARP reply that an address has a MAC. */
export function arp(mac: readonly number[], address: string): readonly number[] {
  return [0, 1, 8, 0, 6, 4, 0, 2, ...mac, ...bytesOf(address), 0, 0, 0, 0, 0, 0, ...bytesOf(address)];
}

/** A neighbour advertisement that an address has a MAC. */
export function advertisement(mac: readonly number[], address: string): readonly number[] {
  return [136, 0, 0, 0, 0x20, 0, 0, 0, ...bytesOf(address), 2, 1, ...mac];
}
