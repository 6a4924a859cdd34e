// Expressions that look values of a packet up: in a set, which ends the rule unless it has them, and in a map, whose verdict the packet follows. No I/O.

import { attribute } from "../../system/netlink/message.ts";
import { originalAddress } from "./connection-expressions.ts";
import { type Expression, expression, numberAttribute, VERDICT_REGISTER, zeroEnded } from "./expressions.ts";
import {
  addressAndPort,
  FIRST_REGISTER,
  header,
  meta,
  META_IIFNAME,
  NETWORK_HEADER,
  payload,
  protocolAndPort,
} from "./packet-values.ts";

/** Continues if the set has the packet's address. */
export function addressInSet(family: 4 | 6, which: "source" | "destination", set: string): readonly Expression[] {
  const { size, [which]: offset } = header[family];
  return [payload(FIRST_REGISTER, NETWORK_HEADER, offset, size), membership(set)];
}

/** Continues if the set has the packet's address with its protocol and destination port. */
export function portInSet(family: 4 | 6, which: "source" | "destination", set: string): readonly Expression[] {
  return [...addressAndPort(family, which), membership(set)];
}

/** Continues if the set has the destination address of the connection's first packet. */
export function originalDestinationInSet(family: 4 | 6, set: string): readonly Expression[] {
  return [originalAddress(family, "destination"), membership(set)];
}

/** Follows the map's verdict for the packet's address; continues if the map has none. */
export function lookUpAddress(family: 4 | 6, which: "source" | "destination", map: string): readonly Expression[] {
  const { size, [which]: offset } = header[family];
  return [payload(FIRST_REGISTER, NETWORK_HEADER, offset, size), lookup(map)];
}

/** Follows the map's verdict for the packet's protocol and destination port. `withAddress`: the key begins with the destination address. */
export function lookUpPort(family: 4 | 6, withAddress: boolean, map: string): readonly Expression[] {
  return [...(withAddress ? addressAndPort(family, "destination") : protocolAndPort(0)), lookup(map)];
}

/** Follows the map's verdict for the name of the link that received the frame. */
export function lookUpLink(map: string): readonly Expression[] {
  return [meta(FIRST_REGISTER, META_IIFNAME), lookup(map)];
}

function membership(set: string): Expression {
  return expression("lookup", attribute(1, zeroEnded(set)), numberAttribute(2, FIRST_REGISTER));
}

function lookup(map: string): Expression {
  return expression(
    "lookup",
    attribute(1, zeroEnded(map)),
    numberAttribute(2, FIRST_REGISTER),
    numberAttribute(3, VERDICT_REGISTER),
  );
}
