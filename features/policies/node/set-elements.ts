// The elements of a table's sets as keys of the kernel.

import { readAddress, type Family } from "../../../src/net/ip.ts";
import { u16be } from "../../../host/capabilities/firewall/big-endian.ts";
import { addressBytes } from "../../../host/capabilities/firewall/packet-values.ts";
import type { KeySet, SetElement } from "../../../host/capabilities/firewall/nf-sets.ts";
import { concat } from "../../../host/system/netlink/bytes.ts";
import { readRange } from "../rules/judge-packet.ts";
import type { NamedSet } from "../rules/table.ts";

/** Key types by nft's numbers: 7 ipv4_addr, 8 ipv6_addr, 12 inet_proto, 13 inet_service. */
const addresses = { 4: { type: 7, size: 4 }, 6: { type: 8, size: 16 } } as const;
const [PROTOCOL, SERVICE] = [12, 13];
/** A field of a key takes whole words. */
const word = 4;
const bits = { 4: 32n, 6: 128n } as const;

/**
 * Maximum flows of one interface, direction and family. An element takes some 130 bytes of the kernel's memory, and the pod decides how many there are. Beyond
 * the bound new connections are dropped.
 */
const maxFlows = 32_768;
/** Datagrams in fragments that pass at once. */
const maxFragments = 4096;
/** nft's number of a type without a meaning. */
const INTEGER = 4;

/** The set as the kernel makes it. */
export function keySet({ name, kind, family }: NamedSet): KeySet {
  const { type, size } = addresses[family];
  const noted = { name, isInterval: false, keySize: 2 * size };
  if (kind === "flow") {
    const types = [type, type, PROTOCOL, SERVICE, SERVICE];
    return { ...noted, types, keySize: noted.keySize + 3 * word, maxNoted: maxFlows };
  }
  if (kind === "fragment")
    return { ...noted, types: [type, type, INTEGER], keySize: noted.keySize + word, maxNoted: maxFragments };
  if (kind === "port") return { name, types: [type, PROTOCOL, SERVICE], keySize: size + 2 * word, isInterval: false };
  return { name, types: [type], keySize: size, isInterval: kind === "range" };
}

/** Elements of a set. A range has two: its begin, and the first address behind it. */
export function keysOf({ kind, family }: NamedSet, elements: readonly string[]): readonly SetElement[] {
  if (kind === "range") return elements.flatMap((element) => rangeKeys(element, family));
  return elements.map((element) => ({ key: kind === "port" ? portKey(element) : addressKey(element), isEnd: false }));
}

function addressKey(text: string): Uint8Array {
  const address = readAddress(text);
  if (address === undefined) throw new TypeError(`${text} is no element of a set of addresses`);
  return addressBytes(address);
}

function portKey(element: string): Uint8Array {
  const [address = "", protocol, port] = element.split(" ");
  return concat([addressKey(address), Uint8Array.of(Number(protocol), 0, 0, 0), u16be(Number(port)), new Uint8Array(2)]);
}

function rangeKeys(element: string, family: Family): readonly SetElement[] {
  const { first, last } = readRange(element, family);
  const begin = { key: addressBytes({ family, value: first }), isEnd: false };
  // A range up to the last address has no end: the next address does not exist.
  if (last + 1n >= 1n << bits[family]) return [begin];
  return [begin, { key: addressBytes({ family, value: last + 1n }), isEnd: true }];
}
