// Addresses of links: RTM_NEWADDR, RTM_DELADDR, RTM_GETADDR (linux/if_addr.h). They have no way to name another namespace: with
// IFA_TARGET_NETNSID the kernel answers success and acts in the socket's own.

import type { Cidr } from "../../../src/net/ip.ts";
import { attribute, Attributes, u32Attribute, type NetlinkAnswer, type NetlinkRequest } from "./message.ts";
import { AF_INET, AF_INET6, addressBytes, addressIn, familyNumber, concat, u32, u8, u32At, i32At } from "./bytes.ts";
import { NLM_F_CREATE, NLM_F_DUMP, NLM_F_EXCL } from "./link-attributes.ts";

/** An address as the kernel tells it. */
export interface AddressState {
  /** Index of its link. */
  readonly link: number;
  readonly cidr: Cidr;
  /** Duplicate address detection runs: the address is not usable yet. */
  readonly tentative: boolean;
  /** Duplicate address detection found another holder. */
  readonly dadFailed: boolean;
  /** The kernel's message, from which exactly this address can be restored. */
  readonly raw: Uint8Array;
}

const RTM_NEWADDR = 20;
const RTM_DELADDR = 21;
const RTM_GETADDR = 22;
const IFADDRMSG = 8;
const IFA_ADDRESS = 1;
const IFA_LOCAL = 2;
const IFA_BROADCAST = 4;
const IFA_FLAGS = 8;
const IFA_F_NODAD = 0x2;
const IFA_F_DADFAILED = 0x8;
const IFA_F_TENTATIVE = 0x40;
/** The attributes that define an address: ADDRESS, LOCAL, LABEL, BROADCAST, CACHEINFO, FLAGS, RT_PRIORITY, PROTO; the rest of a dump is not settable. */
const MADE_OF: ReadonlySet<number> = new Set([1, 2, 3, 4, 6, 8, 9, 11]);
/** Flags that a request can set: NODAD, OPTIMISTIC, HOMEADDRESS, MANAGETEMPADDR, NOPREFIXROUTE, MCAUTOJOIN. */
const SETTABLE = 0x02 | 0x04 | 0x10 | 0x100 | 0x200 | 0x400;
/** IPv4 networks from this prefix length on have no broadcast address (RFC 3021). */
const NO_BROADCAST_FROM = 31;

/** Requests the addresses of one link, both families. A kernel without this filter answers with those of all links. */
export function addressesRequest(link: number): NetlinkRequest {
  return { type: RTM_GETADDR, flags: NLM_F_DUMP, body: fixed(0, 0, link) };
}

/** The address in a message; undefined for a message of another type. */
export function addressStateIn({ type, body }: { readonly type: number; readonly body: Uint8Array }): AddressState | undefined {
  if (type !== RTM_NEWADDR || body.length < IFADDRMSG) return undefined;
  const number = body[0];
  const prefix = body[1] ?? 0;
  const lowFlags = body[2] ?? 0;
  if (number !== AF_INET && number !== AF_INET6) return undefined;
  const attributes = new Attributes(body, IFADDRMSG);
  const family = number === AF_INET ? 4 : 6;
  // If the address has a peer, ADDRESS is the peer's.
  const address = addressIn(attributes.get(IFA_LOCAL) ?? attributes.get(IFA_ADDRESS), family);
  const flags = attributes.u32(IFA_FLAGS) ?? lowFlags;
  if (address === undefined) return undefined;
  return {
    link: i32At(body, 4),
    cidr: { address, prefix },
    tentative: (flags & IFA_F_TENTATIVE) !== 0,
    dadFailed: (flags & IFA_F_DADFAILED) !== 0,
    raw: body.slice(),
  };
}

/** The addresses of one link that a dump has. */
export function addressesOf({ messages }: NetlinkAnswer, link: number): readonly AddressState[] {
  return messages.flatMap((message) => addressStateIn(message) ?? []).filter((each) => each.link === link);
}

/** Adds an address; an existing one stays unchanged (EEXIST). IPv4 addresses get their network's broadcast address, as Go's netlink sets it and ip(8) does not. */
export function addressAddition(link: number, cidr: Cidr, noDad: boolean): NetlinkRequest {
  const flags = noDad && cidr.address.family === 6 ? [u32Attribute(IFA_FLAGS, IFA_F_NODAD)] : [];
  return {
    type: RTM_NEWADDR,
    flags: NLM_F_CREATE | NLM_F_EXCL,
    body: concat([named(link, cidr), ...broadcast(cidr), ...flags]),
  };
}

/** Removes an address. */
export function addressRemoval(link: number, cidr: Cidr): NetlinkRequest {
  return { type: RTM_DELADDR, flags: 0, body: named(link, cidr) };
}

/** Restores a removed address. */
export function addressRestoration(raw: AddressState["raw"]): NetlinkRequest {
  const head = raw.slice(0, IFADDRMSG);
  head[2] = (head[2] ?? 0) & SETTABLE;
  const attributes = [...new Attributes(raw, IFADDRMSG)].filter(([type]) => MADE_OF.has(type));
  const written = attributes.map(([type, value]) =>
    attribute(type, type === IFA_FLAGS ? u32(u32At(value, 0) & SETTABLE) : value),
  );
  return { type: RTM_NEWADDR, flags: NLM_F_CREATE | NLM_F_EXCL, body: concat([head, ...written]) };
}

function named(link: number, { address, prefix }: Cidr): Uint8Array {
  const bytes = addressBytes(address);
  return concat([fixed(familyNumber(address.family), prefix, link), attribute(IFA_LOCAL, bytes), attribute(IFA_ADDRESS, bytes)]);
}

function broadcast({ address, prefix }: Cidr): Uint8Array[] {
  if (address.family === 6 || prefix >= NO_BROADCAST_FROM) return [];
  const hosts = (1n << BigInt(32 - prefix)) - 1n;
  return [attribute(IFA_BROADCAST, addressBytes({ family: 4, value: address.value | hosts }))];
}

function fixed(family: number, prefix: number, link: number): Uint8Array {
  return concat([u8(family), u8(prefix), u8(0), u8(0), u32(link)]);
}
