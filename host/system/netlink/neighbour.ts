// Permanent neighbours of a link (linux/neighbour.h).

import type { IpAddress } from "../../src/net/ip.ts";
import { AF_INET, AF_INET6, addressBytes, addressIn, familyNumber, macBytes, macText } from "./address-bytes.ts";
import { NLM_F_CREATE, NLM_F_DUMP, NLM_F_EXCL } from "./link-attributes.ts";
import { attribute, Attributes, u32Attribute } from "./attributes.ts";
import { concat, u16, u32, u8, u16At, i32At } from "./bytes.ts";
import type { NetlinkRequest } from "./message.ts";

export interface NeighbourState {
  readonly link: number;
  readonly address: IpAddress;
  /** Empty: none. */
  readonly mac: string;
  readonly proxy: boolean;
  readonly permanent: boolean;
}

/** An entry to be added or removed. */
export interface NeighbourWish {
  readonly address: IpAddress;
  readonly mac: string | undefined;
  readonly proxy: boolean;
}

const RTM_NEWNEIGH = 28;
const RTM_DELNEIGH = 29;
const RTM_GETNEIGH = 30;
const NDMSG = 12;
const NDA_DST = 1;
const NDA_LLADDR = 2;
const NDA_IFINDEX = 8;
const NUD_PERMANENT = 0x80;
const NTF_PROXY = 0x08;

/** Asks for the neighbours of one link, or for the addresses that it answers for. */
export function neighboursRequest(link: number, proxy: boolean): NetlinkRequest {
  const head = concat([new Uint8Array(10), u8(proxy ? NTF_PROXY : 0), u8(0)]);
  return { type: RTM_GETNEIGH, flags: NLM_F_DUMP, body: concat([head, u32Attribute(NDA_IFINDEX, link)]) };
}

export function neighbourStateIn({
  type,
  body,
}: {
  readonly type: number;
  readonly body: Uint8Array;
}): NeighbourState | undefined {
  if (type !== RTM_NEWNEIGH || body.length < NDMSG) return undefined;
  const [number] = body;
  if (number !== AF_INET && number !== AF_INET6) return undefined;
  const attributes = new Attributes(body, NDMSG);
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

/** One that is there is not touched (EEXIST). */
export function neighbourAddition(link: number, neighbour: NeighbourWish): NetlinkRequest {
  return { type: RTM_NEWNEIGH, flags: NLM_F_CREATE | NLM_F_EXCL, body: bodyOf(link, neighbour) };
}

export function neighbourRemoval(link: number, neighbour: NeighbourWish): NetlinkRequest {
  return { type: RTM_DELNEIGH, flags: 0, body: bodyOf(link, { ...neighbour, mac: undefined }) };
}

function bodyOf(link: number, { address, mac, proxy }: NeighbourWish): Uint8Array {
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
