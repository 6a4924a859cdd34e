// Netlink messages about a link's neighbours and proxy entries (linux/neighbour.h). All entries that Plexus adds are permanent.

import type { IpAddress } from "../../../src/net/ip.ts";
import { attribute, Attributes, u32Attribute, type NetlinkRequest } from "./message.ts";
import {
  AF_INET,
  AF_INET6,
  addressBytes,
  addressIn,
  familyNumber,
  macBytes,
  macText,
  concat,
  u16,
  u32,
  u8,
  u16At,
  i32At,
} from "./bytes.ts";
import { NLM_F_CREATE, NLM_F_DUMP, NLM_F_EXCL } from "./link-attributes.ts";

/**
 * A neighbour or proxy entry as the kernel lists it. For the address of a proxy entry the kernel answers ARP or NDP requests in the
 * owner's place.
 */
export interface NeighbourState {
  readonly link: number;
  readonly address: IpAddress;
  /** Empty for an entry without a hardware address, such as a proxy entry. */
  readonly mac: string;
  readonly proxy: boolean;
  readonly permanent: boolean;
}

/** An entry to add or remove. */
export interface NeighbourEntry {
  readonly address: IpAddress;
  /** Undefined for an entry without a hardware address, such as a proxy entry. */
  readonly mac: string | undefined;
  readonly proxy: boolean;
}

const RTM_NEWNEIGH = 28;
const RTM_DELNEIGH = 29;
const RTM_GETNEIGH = 30;
/** Bytes of `struct ndmsg`. */
const NDMSG_SIZE = 12;
const NDA_DST = 1;
const NDA_LLADDR = 2;
const NDA_IFINDEX = 8;
const NUD_PERMANENT = 0x80;
const NTF_PROXY = 0x08;

/** Requests a list of one link's neighbours; with `proxy`, of its proxy entries instead. */
export function neighboursRequest(link: number, proxy: boolean): NetlinkRequest {
  const head = concat([new Uint8Array(10), u8(proxy ? NTF_PROXY : 0), u8(0)]);
  return { type: RTM_GETNEIGH, flags: NLM_F_DUMP, body: concat([head, u32Attribute(NDA_IFINDEX, link)]) };
}

/** The entry in a message; undefined if the message is not about a neighbour or has no IPv4 or IPv6 address. */
export function neighbourStateIn({
  type,
  body,
}: {
  readonly type: number;
  readonly body: Uint8Array;
}): NeighbourState | undefined {
  if (type !== RTM_NEWNEIGH || body.length < NDMSG_SIZE) return undefined;
  const [number] = body;
  if (number !== AF_INET && number !== AF_INET6) return undefined;
  const attributes = new Attributes(body, NDMSG_SIZE);
  const address = addressIn(attributes.get(NDA_DST), number === AF_INET ? 4 : 6);
  if (address === undefined) return undefined;
  return {
    link: i32At(body, 4),
    address,
    mac: macText(attributes.get(NDA_LLADDR)),
    proxy: ((body[10] ?? 0) & NTF_PROXY) !== 0,
    permanent: (u16At(body, 8) & NUD_PERMANENT) !== 0,
  };
}

/** Adds an entry; an existing one stays unchanged (EEXIST). */
export function neighbourAddition(link: number, neighbour: NeighbourEntry): NetlinkRequest {
  return { type: RTM_NEWNEIGH, flags: NLM_F_CREATE | NLM_F_EXCL, body: bodyOf(link, neighbour) };
}

/** Removes an entry. The kernel finds an entry by link, address and `proxy`, so the message has no hardware address. */
export function neighbourRemoval(link: number, neighbour: NeighbourEntry): NetlinkRequest {
  return { type: RTM_DELNEIGH, flags: 0, body: bodyOf(link, { ...neighbour, mac: undefined }) };
}

function bodyOf(link: number, { address, mac, proxy }: NeighbourEntry): Uint8Array {
  const bytes = mac === undefined ? undefined : macBytes(mac);
  return concat([
    u8(familyNumber(address.family)),
    u8(0),
    u16(0),
    u32(link),
    u16(NUD_PERMANENT),
    u8(proxy ? NTF_PROXY : 0),
    u8(0),
    attribute(NDA_DST, addressBytes(address)),
    ...(bytes === undefined ? [] : [attribute(NDA_LLADDR, bytes)]),
  ]);
}
