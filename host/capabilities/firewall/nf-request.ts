// One nf_tables message as the kernel takes it (linux/netfilter/nf_tables.h): its type numbers, flags and first attributes. No I/O.

import { attribute, type NetlinkRequest } from "../../system/netlink/message.ts";
import { concat } from "../../system/netlink/bytes.ts";

/** The name of Plexus's table in each family. */
export const PLEXUS_TABLE = "plexus";

/** A table: its family is packets of one IP version, of both (`inet`), frames of bridges, or all that single devices receive and send (`netdev`). */
export interface Table {
  readonly family: 4 | 6 | "inet" | "bridge" | "netdev";
  /** Absent: `plexus`. */
  readonly name?: string;
}

/** A table for packets of one IP version. */
export interface IpTable extends Table {
  readonly family: 4 | 6;
}

/** The address families of tables. */
const families = { 4: 2, 6: 10, inet: 1, netdev: 5, bridge: 7 } as const satisfies Record<Table["family"], number>;
/** NFNL_SUBSYS_NFTABLES. */
export const NF_TABLES = 10;
const messageType = (message: number): number => (NF_TABLES << 8) | message;
/** The types of messages (NFT_MSG_). */
export const MESSAGE = {
  newTable: messageType(0),
  getTable: messageType(1),
  delTable: messageType(2),
  newChain: messageType(3),
  getChain: messageType(4),
  delChain: messageType(5),
  newRule: messageType(6),
  getRule: messageType(7),
  delRule: messageType(8),
  newSet: messageType(9),
  getSet: messageType(10),
  delSet: messageType(11),
  newSetElement: messageType(12),
  getSetElement: messageType(13),
  delSetElement: messageType(14),
  newGeneration: messageType(15),
  getGeneration: messageType(16),
} as const;
/** Flags of a netlink message: list all, refuse what exists, make what is missing, append. */
export const NLM_F_DUMP = 0x300;
export const EXCLUSIVE = 0x600;
export const CREATE = 0x400;
export const APPEND = 0xc00;
/** NFTA_LIST_ELEM: one of several attributes in another. */
export const LIST_ELEMENT = 1;

/** A message about a family, or about all of them (0). */
export function request(message: number, flags: number, family: number, ...attributes: readonly Uint8Array[]): NetlinkRequest {
  return { type: message, flags, body: concat([Uint8Array.of(family, 0, 0, 0), ...attributes]) };
}

/** A message about a table, which its first attribute names. */
export function tableRequest(message: number, flags: number, table: Table, ...attributes: readonly Uint8Array[]): NetlinkRequest {
  return request(message, flags, familyOf(table), textAttribute(1, table.name ?? PLEXUS_TABLE), ...attributes);
}

/** The number of a table's address family. */
export function familyOf({ family }: Table): number {
  return families[family];
}

/** An attribute with a text as the kernel's string. */
export const textAttribute = (kind: number, value: string): Uint8Array => attribute(kind, new TextEncoder().encode(`${value}\0`));
