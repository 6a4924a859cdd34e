// The expressions of nftables rules that compare bytes of a packet, look fields of it up in a set, and add them to a set. No I/O.

import { attribute } from "../../system/netlink/attributes.ts";
import { u16be, u32be, u64be } from "./big-endian.ts";
import { type Expression, expression, wordRegister, zeroEnded } from "./expressions.ts";

/** Bytes of a packet: of its link, network or transport header, of the fragment header of IPv6, or the number of its transport protocol. */
export type PacketBytes =
  | { readonly of: "link" | "network" | "transport" | "fragment"; readonly offset: number; readonly size: number }
  | { readonly of: "protocol" };

const bases = { link: 0, network: 1, transport: 2 } as const;
const META_PROTOCOL = 1;
const META_L4PROTO = 16;
/** The number of the fragment header in a chain of IPv6 headers. */
const FRAGMENT_HEADER = 44;
const [IS, IS_NOT] = [0, 1];
const LOOKUP_INVERTED = 1;
/** NFT_DYNSET_OP_UPDATE: adds the element, or renews its time. */
const UPDATE = 1;
const wordBytes = 4;

const number = (type: number, value: number): Uint8Array => attribute(type, u32be(value));
const value = (type: number, bytes: Uint8Array): Uint8Array => attribute(type, attribute(1, bytes));

/** Continues if the frame has this ethertype behind its VLAN tag. */
export function ethertypeIs(ethertype: number): readonly Expression[] {
  return [expression("meta", number(2, META_PROTOCOL), number(1, wordRegister(0))), compare(false, u16be(ethertype))];
}

/** Continues if the bytes, or those of their bits that the mask has, are (not) the wanted ones. A packet without these bytes does not continue. */
export function bytesAre(field: PacketBytes, isNot: boolean, wanted: Uint8Array, mask?: Uint8Array): readonly Expression[] {
  const masked = mask === undefined ? [] : [bitwise(mask)];
  return [load(field, 0), ...masked, compare(isNot, wanted)];
}

/** Continues if the set has (not) the fields as its key. */
export function fieldsInSet(fields: readonly PacketBytes[], set: string, isNot: boolean): readonly Expression[] {
  const inverted = isNot ? [number(5, LOOKUP_INVERTED)] : [];
  return [...loadAll(fields), expression("lookup", attribute(1, zeroEnded(set)), number(2, wordRegister(0)), ...inverted)];
}

/** Adds the fields to a set as a key, or renews the key's time. A full set ends the rule. */
export function addFields(fields: readonly PacketBytes[], set: string, seconds: number): readonly Expression[] {
  const timeout = attribute(6, u64be(seconds * 1000));
  return [
    ...loadAll(fields),
    expression("dynset", attribute(1, zeroEnded(set)), number(3, UPDATE), number(4, wordRegister(0)), timeout),
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
  if (field.of === "protocol") return expression("meta", number(2, META_L4PROTO), number(1, register));
  const { of, offset, size } = field;
  if (of === "fragment")
    return expression(
      "exthdr",
      number(1, register),
      attribute(2, Uint8Array.of(FRAGMENT_HEADER)),
      number(3, offset),
      number(4, size),
    );
  return expression("payload", number(1, register), number(2, bases[of]), number(3, offset), number(4, size));
}

function bitwise(mask: Uint8Array): Expression {
  const [source, none] = [wordRegister(0), new Uint8Array(mask.length)];
  return expression("bitwise", number(1, source), number(2, source), number(3, mask.length), value(4, mask), value(5, none));
}

function compare(isNot: boolean, bytes: Uint8Array): Expression {
  return expression("cmp", number(1, wordRegister(0)), number(2, isNot ? IS_NOT : IS), value(3, bytes));
}
