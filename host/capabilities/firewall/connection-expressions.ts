// Expressions that end a rule unless the packet's connection is as wanted. "Original" values are those of the connection's first packet. No I/O.

import type { IpAddress } from "../../../src/net/ip.ts";
import { attribute } from "../../system/netlink/message.ts";
import { u16be } from "./big-endian.ts";
import { type Expression, expression, numberAttribute } from "./expressions.ts";
import { compare, maskBytes, masked } from "./match-expressions.ts";
import { addressBytes, FIRST_REGISTER } from "./packet-values.ts";

const CT_STATE = 0;
const CT_DIRECTION = 1;
const CT_STATUS = 2;
const CT_PROTO_DST = 12;
/** Addresses of the connection's first packet. */
const CT_ADDRESS = { 4: { source: 19, destination: 20 }, 6: { source: 21, destination: 22 } } as const;
const STATUS_DNAT = 0x20;
const REPLY = 1;
/** Bits of a packet's state (NF_CT_STATE_BIT). */
const states = { established: 2, related: 4 } as const;

/** Continues if the connection's first packet had this destination port. */
export function originalPortIs(port: number): readonly Expression[] {
  return [connection(CT_PROTO_DST), compare("is", u16be(port))];
}

/** Continues if the address of the connection's first packet was (not) in the network. */
export function originalAddressIn(
  which: "source" | "destination",
  operation: "is" | "is not",
  address: IpAddress,
  prefix?: number,
): readonly Expression[] {
  const bytes = addressBytes(address);
  const load = originalAddress(address.family, which);
  if (prefix === undefined || prefix === 8 * bytes.length) return [load, compare(operation, bytes)];
  const mask = maskBytes(address.family, prefix);
  const network = bytes.map((byte, index) => byte & (mask[index] ?? 0));
  return [load, masked(mask), compare(operation, network)];
}

/** Continues if the connection's destination was changed (DNAT). */
export function destinationWasChanged(): readonly Expression[] {
  const flag = new Uint8Array(Uint32Array.of(STATUS_DNAT).buffer);
  return [
    expression("ct", numberAttribute(2, CT_STATUS), numberAttribute(1, FIRST_REGISTER)),
    masked(flag),
    compare("is not", new Uint8Array(4)),
  ];
}

/** Continues if the connection's state, for this packet, is one of these. */
export function stateIs(wanted: readonly (keyof typeof states)[]): readonly Expression[] {
  const flags = wanted.reduce((all, each) => all | states[each], 0);
  const mask = new Uint8Array(Uint32Array.of(flags).buffer);
  return [
    expression("ct", numberAttribute(2, CT_STATE), numberAttribute(1, FIRST_REGISTER)),
    masked(mask),
    compare("is not", new Uint8Array(4)),
  ];
}

/** Continues if the packet goes against its connection's first packet. */
export function isReply(): readonly Expression[] {
  return [
    expression("ct", numberAttribute(2, CT_DIRECTION), numberAttribute(1, FIRST_REGISTER)),
    compare("is", Uint8Array.of(REPLY)),
  ];
}

/** Loads an address of the connection's first packet. */
export function originalAddress(family: 4 | 6, which: "source" | "destination"): Expression {
  return connection(CT_ADDRESS[family][which]);
}

/** Loads a value of the connection's original direction. */
function connection(key: number): Expression {
  return expression("ct", numberAttribute(2, key), numberAttribute(1, FIRST_REGISTER), attribute(3, Uint8Array.of(0)));
}
