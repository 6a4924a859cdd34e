// Expressions that change a connection's destination or source (NAT), and keep a client's destination. No I/O.

import type { IpAddress } from "../../../src/net/ip.ts";
import { attribute } from "../../system/netlink/message.ts";
import { u16be, u64be } from "./big-endian.ts";
import {
  addressAndPort,
  addressBytes,
  FIRST_REGISTER,
  header,
  meta,
  NETWORK_HEADER,
  payload,
  SECOND_REGISTER,
  wordRegister,
} from "./packet-values.ts";
import { ADDRESS_FAMILY, expression, type Expression, numberAttribute, dataAttribute, zeroEnded } from "./expressions.ts";

const LAST_WORD = 15;
const META_MARK = 3;
/** NFT_NG_RANDOM. */
const RANDOM = 1;
/** NFT_DYNSET_OP_UPDATE: adds the element, or renews its time. */
const UPDATE = 1;

const setMeta = (register: number, key: number): Expression =>
  expression("meta", numberAttribute(2, key), numberAttribute(3, register));

/** Changes the connection's destination address and port (DNAT). */
export function changeDestination(address: IpAddress, port: number): readonly Expression[] {
  return [
    expression("immediate", numberAttribute(1, FIRST_REGISTER), dataAttribute(2, addressBytes(address))),
    expression("immediate", numberAttribute(1, SECOND_REGISTER), dataAttribute(2, u16be(port))),
    expression(
      "nat",
      numberAttribute(1, 1),
      numberAttribute(2, ADDRESS_FAMILY[address.family]),
      numberAttribute(3, FIRST_REGISTER),
      numberAttribute(5, SECOND_REGISTER),
    ),
  ];
}

/**
 * Changes the connection's destination to one of `count` addresses and ports at random (DNAT). `map` has them by number, as the address and the port behind each
 * other.
 */
export function changeDestinationByMap(family: 4 | 6, count: number, map: string): readonly Expression[] {
  return [
    expression("numgen", numberAttribute(1, FIRST_REGISTER), numberAttribute(2, count), numberAttribute(3, RANDOM)),
    expression("lookup", attribute(1, zeroEnded(map)), numberAttribute(2, FIRST_REGISTER), numberAttribute(3, FIRST_REGISTER)),
    expression(
      "nat",
      numberAttribute(1, 1),
      numberAttribute(2, ADDRESS_FAMILY[family]),
      numberAttribute(3, FIRST_REGISTER),
      numberAttribute(5, wordRegister(header[family].size / 4)),
    ),
  ];
}

/**
 * Changes the connection's destination (DNAT) to the one of `destinations` whose number the map of kept destinations has for the packet's client, and renews the time of
 * the map's element; continues if the map has none.
 */
export function changeDestinationToKept(family: 4 | 6, destinations: string, kept: KeptDestinations): readonly Expression[] {
  const { data } = keptRegisters(family);
  const found = expression(
    "lookup",
    attribute(1, zeroEnded(kept.map)),
    numberAttribute(2, FIRST_REGISTER),
    numberAttribute(3, data),
  );
  const mark = wordRegister(LAST_WORD);
  // The number goes through the packet's mark, which is as before at the end: nft 1.0.6 aborts on a map's value that is the data of another element.
  const throughMark = [meta(mark, META_MARK), found, setMeta(data, META_MARK), meta(data, META_MARK), setMeta(mark, META_MARK)];
  return [...keptKey(family), ...throughMark, ...keepAndGo(family, destinations, kept)];
}

/** Like `changeDestinationByMap`, and keeps the number for the packet's client. Continues if the map of kept destinations is full. */
export function changeDestinationAndKeep(
  family: 4 | 6,
  count: number,
  destinations: string,
  kept: KeptDestinations,
): readonly Expression[] {
  const { data } = keptRegisters(family);
  const chosen = expression("numgen", numberAttribute(1, data), numberAttribute(2, count), numberAttribute(3, RANDOM));
  return [...keptKey(family), chosen, ...keepAndGo(family, destinations, kept)];
}

/** A map of kept destinations, and the time without a connection after which a destination is forgotten. */
export interface KeptDestinations {
  readonly map: string;
  readonly seconds: number;
}

/** The key of kept destinations: destination address, protocol and port, and the client's address behind them. */
function keptKey(family: 4 | 6): readonly Expression[] {
  const { size, source } = header[family];
  const client = payload(wordRegister(size / 4 + 2), NETWORK_HEADER, source, size);
  return [...addressAndPort(family, "destination"), client];
}

/** The registers behind the key: of the number, then of the address, and of the port. */
function keptRegisters(family: 4 | 6): { readonly data: number; readonly port: number } {
  const words = header[family].size / 4;
  const keyWords = 2 * words + 2;
  return { data: wordRegister(keyWords), port: wordRegister(keyWords + words) };
}

/** Adds the key with its number to the map, or renews its time (NFT_DYNSET_OP_UPDATE); then changes the destination. */
function keepAndGo(family: 4 | 6, destinations: string, { map, seconds }: KeptDestinations): readonly Expression[] {
  const { data, port } = keptRegisters(family);
  const timeout = attribute(6, u64be(seconds * 1000));
  return [
    expression(
      "dynset",
      attribute(1, zeroEnded(map)),
      numberAttribute(3, UPDATE),
      numberAttribute(4, FIRST_REGISTER),
      numberAttribute(5, data),
      timeout,
    ),
    expression("lookup", attribute(1, zeroEnded(destinations)), numberAttribute(2, data), numberAttribute(3, data)),
    expression(
      "nat",
      numberAttribute(1, 1),
      numberAttribute(2, ADDRESS_FAMILY[family]),
      numberAttribute(3, data),
      numberAttribute(5, port),
    ),
  ];
}

/** Gives the connection the node's address as its source. */
export function masquerade(): Expression {
  return expression("masq");
}
