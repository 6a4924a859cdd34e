// The expressions of nftables rules that compare bytes of a packet, look fields of it up in a set, and add them to a set. No I/O.

import { attribute } from "../../system/netlink/message.ts";
import { u16be, u64be } from "./big-endian.ts";
import { type Expression, expression, numberAttribute, zeroEnded } from "./expressions.ts";
import { compare, masked } from "./match-expressions.ts";
import { meta, META_L4PROTO, payload, wordRegister } from "./packet-values.ts";

/** Bytes of a packet: of its link, network or transport header, of the fragment header of IPv6, or the number of its transport protocol. */
export type PacketBytes =
  | { readonly of: "link" | "network" | "transport" | "fragment"; readonly offset: number; readonly size: number }
  | { readonly of: "protocol" };

const bases = { link: 0, network: 1, transport: 2 } as const;
const META_PROTOCOL = 1;
/** The number of the fragment header in a chain of IPv6 headers. */
const FRAGMENT_HEADER = 44;
const LOOKUP_INVERTED = 1;
/** NFT_DYNSET_OP_UPDATE: adds the element, or renews its time. */
const UPDATE = 1;
const wordBytes = 4;

/** Continues if the frame has this ethertype behind its VLAN tag. */
export function ethertypeIs(ethertype: number): readonly Expression[] {
  return [meta(wordRegister(0), META_PROTOCOL), compare("is", u16be(ethertype))];
}

/** Continues if the bytes, or those of their bits that the mask has, are (not) the wanted ones. A packet without these bytes does not continue. */
export function bytesAre(field: PacketBytes, isNot: boolean, wanted: Uint8Array, mask?: Uint8Array): readonly Expression[] {
  const inMask = mask === undefined ? [] : [masked(mask)];
  return [load(field, 0), ...inMask, compare(isNot ? "is not" : "is", wanted)];
}

/** Continues if the set has (not) the fields as its key. */
export function fieldsInSet(fields: readonly PacketBytes[], set: string, isNot: boolean): readonly Expression[] {
  const inverted = isNot ? [numberAttribute(5, LOOKUP_INVERTED)] : [];
  return [
    ...loadAll(fields),
    expression("lookup", attribute(1, zeroEnded(set)), numberAttribute(2, wordRegister(0)), ...inverted),
  ];
}

/** Adds the fields to a set as a key, or renews the key's time. A full set ends the rule. */
export function addFields(fields: readonly PacketBytes[], set: string, seconds: number): readonly Expression[] {
  const timeout = attribute(6, u64be(seconds * 1000));
  return [
    ...loadAll(fields),
    expression("dynset", attribute(1, zeroEnded(set)), numberAttribute(3, UPDATE), numberAttribute(4, wordRegister(0)), timeout),
  ];
}

function loadAll(fields: readonly PacketBytes[]): readonly Expression[] {
  let word = 0;
  return fields.map((field) => {
    const loaded = load(field, word);
    word += Math.ceil((field.of === "protocol" ? 1 : field.size) / wordBytes);
    return loaded;
  });
}

function load(field: PacketBytes, word: number): Expression {
  const register = wordRegister(word);
  if (field.of === "protocol") return meta(register, META_L4PROTO);
  const { of, offset, size } = field;
  if (of === "fragment")
    return expression(
      "exthdr",
      numberAttribute(1, register),
      attribute(2, Uint8Array.of(FRAGMENT_HEADER)),
      numberAttribute(3, offset),
      numberAttribute(4, size),
    );
  return payload(register, bases[of], offset, size);
}
