// The expressions of nftables rules (linux/netfilter/nf_tables.h): each loads a value, compares it, or gives a verdict. They are encoded
// as the kernel lists them, so that installed rules can be compared with requested ones. No I/O.

import type { IpAddress } from "../../../src/net/ip.ts";
import { attribute, attributesIn, textIn } from "../../system/netlink/attributes.ts";
import { concat } from "../../system/netlink/bytes.ts";
import { u16be, u32be, u64be } from "./big-endian.ts";

/** One expression of a rule. */
export interface Expression {
  readonly name: string;
  /** The encoded attributes. */
  readonly data: Uint8Array;
}

/** The verdict of a rule or of a map's element. */
export type Verdict = { readonly kind: "jump"; readonly chain: string } | { readonly kind: "return" | "accept" | "drop" };

/** The kernel's register numbers. Registers 1 and 2 have 16 bytes; 9 to 12 are the words of register 1 from the second one on. */
const VERDICT_REGISTER = 0;
const FIRST = 1;
const SECOND = 2;
const FIRST_WORDS = 8;
const LAST_WORD = 15;

const DATA_VALUE = 1;
const DATA_VERDICT = 2;
const LINK_HEADER = 0;
const NETWORK_HEADER = 1;
const TRANSPORT_HEADER = 2;
const DESTINATION_PORT_AT = 2;
const SOURCE_MAC_AT = 6;
const HOP_LIMIT_AT = 7;
const META_MARK = 3;
const META_IIF = 4;
const META_IIFNAME = 6;
const META_OIFNAME = 7;
const META_NFPROTO = 15;
const META_L4PROTO = 16;
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
/** IFNAMSIZ. */
const LINK_NAME_BYTES = 16;
const RTN_LOCAL = 2;
/** NFT_NG_RANDOM, and NFT_REJECT_ICMPX_PORT_UNREACH. */
const RANDOM = 1;
const PORT_UNREACHABLE = 1;
const UPDATE = 1;
const AF = { 4: 2, 6: 10 } as const;
/** Offsets of the addresses in the IP header, and their size, in bytes. */
const header = { 4: { source: 12, destination: 16, size: 4 }, 6: { source: 8, destination: 24, size: 16 } } as const;

const number = (type: number, value: number): Uint8Array => attribute(type, u32be(value));
const value = (type: number, bytes: Uint8Array): Uint8Array => attribute(type, attribute(DATA_VALUE, bytes));

/** An expression with these attributes. */
export function expression(name: string, ...attributes: readonly Uint8Array[]): Expression {
  return { name, data: concat(attributes) };
}

function payload(register: number, base: number, offset: number, length: number): Expression {
  return expression("payload", number(1, register), number(2, base), number(3, offset), number(4, length));
}

function compare(operation: "is" | "is not", bytes: Uint8Array): Expression {
  return expression("cmp", number(1, FIRST), number(2, operation === "is" ? 0 : 1), value(3, bytes));
}

function masked(mask: Uint8Array): Expression {
  const xor = new Uint8Array(mask.length);
  return expression("bitwise", number(1, FIRST), number(2, FIRST), number(3, mask.length), value(4, mask), value(5, xor));
}

const meta = (register: number, key: number): Expression => expression("meta", number(2, key), number(1, register));

const setMeta = (register: number, key: number): Expression => expression("meta", number(2, key), number(3, register));

/** The bytes of an address in network byte order. */
export function addressBytes({ family, value: bits }: IpAddress): Uint8Array {
  const { size } = header[family];
  return Uint8Array.from({ length: size }, (_, index) => Number((bits >> BigInt(8 * (size - 1 - index))) & 0xffn));
}

/** The address in such bytes. */
export function addressOf(bytes: Uint8Array): IpAddress {
  const family = bytes.length === header[4].size ? 4 : 6;
  return { family, value: bytes.reduce((bits, byte) => (bits << 8n) | BigInt(byte), 0n) };
}

/** The bytes of a network mask with `prefix` one-bits. */
function maskBytes(family: 4 | 6, prefix: number): Uint8Array {
  return Uint8Array.from(
    { length: header[family].size },
    (_, index) => (0xff00 >> Math.min(8, Math.max(0, prefix - 8 * index))) & 0xff,
  );
}

/** Continues if the packet's address is (not) in the network. Like nft, loads only the whole bytes of a prefix that has no partial byte. */
export function addressIn(
  which: "source" | "destination",
  operation: "is" | "is not",
  address: IpAddress,
  prefix?: number,
): readonly Expression[] {
  const { family } = address;
  const bytes = addressBytes(address);
  const bits = prefix ?? 8 * bytes.length;
  const size = bits % 8 === 0 ? bits / 8 : bytes.length;
  if (bits === 0 && operation === "is") return [];
  const load = payload(FIRST, NETWORK_HEADER, header[family][which], Math.max(1, size));
  if (bits % 8 === 0 && bits > 0) return [load, compare(operation, bytes.subarray(0, size))];
  const mask = maskBytes(family, bits).subarray(0, Math.max(1, size));
  const network = bytes.subarray(0, mask.length).map((byte, index) => byte & (mask[index] ?? 0));
  return [load, masked(mask), compare(operation, network)];
}

/** Continues if the packet has this protocol. */
export function protocolIs(protocol: number): readonly Expression[] {
  return [meta(FIRST, META_L4PROTO), compare("is", Uint8Array.of(protocol))];
}

/** Continues if the packet has this destination port. */
export function destinationPortIs(port: number): readonly Expression[] {
  return [payload(FIRST, TRANSPORT_HEADER, DESTINATION_PORT_AT, 2), compare("is", u16be(port))];
}

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
  const load = connection(CT_ADDRESS[address.family][which]);
  if (prefix === undefined || prefix === 8 * bytes.length) return [load, compare(operation, bytes)];
  const mask = maskBytes(address.family, prefix);
  const network = bytes.map((byte, index) => byte & (mask[index] ?? 0));
  return [load, masked(mask), compare(operation, network)];
}

/** Loads a value of the connection's original direction. */
function connection(key: number): Expression {
  return expression("ct", number(2, key), number(1, FIRST), attribute(3, Uint8Array.of(0)));
}

/** Continues if the connection's destination was changed (DNAT). */
export function destinationWasChanged(): readonly Expression[] {
  const flag = new Uint8Array(Uint32Array.of(STATUS_DNAT).buffer);
  return [expression("ct", number(2, CT_STATUS), number(1, FIRST)), masked(flag), compare("is not", new Uint8Array(4))];
}

/** Continues if the packet did not come from the loopback, which is link 1 of each network namespace. */
export function notByLoopback(): readonly Expression[] {
  return [meta(FIRST, META_IIF), compare("is not", new Uint8Array(Uint32Array.of(1).buffer))];
}

/** Continues if the packet's destination is an address of the node. */
export function destinationIsLocal(): readonly Expression[] {
  const [type, destination] = [3, 2];
  const local = new Uint8Array(Uint32Array.of(RTN_LOCAL).buffer);
  return [expression("fib", number(1, FIRST), number(2, type), number(3, destination)), compare("is", local)];
}

/** Follows the map's verdict for the packet's address; continues if the map has none. */
export function lookUpAddress(family: 4 | 6, which: "source" | "destination", map: string): readonly Expression[] {
  const { size, [which]: offset } = header[family];
  return [payload(FIRST, NETWORK_HEADER, offset, size), lookup(map)];
}

/** Follows the map's verdict for the packet's protocol and destination port. `withAddress`: the key begins with the destination address. */
export function lookUpPort(family: 4 | 6, withAddress: boolean, map: string): readonly Expression[] {
  return [...(withAddress ? addressAndPort(family, "destination") : protocolAndPort(0)), lookup(map)];
}

/** Loads an address, the protocol and the destination port. */
function addressAndPort(family: 4 | 6, which: "source" | "destination"): readonly Expression[] {
  const { size, [which]: offset } = header[family];
  return [payload(FIRST, NETWORK_HEADER, offset, size), ...protocolAndPort(size / 4)];
}

/** The register that begins with this word. */
export function wordRegister(at: number): number {
  return at === 0 ? FIRST : at === 4 ? SECOND : FIRST_WORDS + at;
}

/** Loads the protocol and the destination port behind so many words. */
function protocolAndPort(words: number): readonly Expression[] {
  return [meta(wordRegister(words), META_L4PROTO), payload(wordRegister(words + 1), TRANSPORT_HEADER, DESTINATION_PORT_AT, 2)];
}

/** Continues if the packet came in or goes out by the link of this name, which need not exist. */
export function linkIs(direction: "in" | "out", name: string): readonly Expression[] {
  const bytes = new Uint8Array(LINK_NAME_BYTES);
  new TextEncoder().encodeInto(name, bytes);
  return [meta(FIRST, direction === "in" ? META_IIFNAME : META_OIFNAME), compare("is", bytes)];
}

/** Like `linkIs`, in the form in which iptables writes it; `is not` for all other links. */
export function linkNamed(direction: "in" | "out", operation: "is" | "is not", name: string): readonly Expression[] {
  return [meta(FIRST, direction === "in" ? META_IIFNAME : META_OIFNAME), compare(operation, zeroEnded(name))];
}

/** Continues if the packet is of this IP version. Rules of `inet` tables ask this before they look into the IP header. */
export function familyIs(family: 4 | 6): readonly Expression[] {
  return [meta(FIRST, META_NFPROTO), compare("is", Uint8Array.of(AF[family]))];
}

/** Continues if the connection's state, for this packet, is one of these. */
export function stateIs(wanted: readonly (keyof typeof states)[]): readonly Expression[] {
  const flags = wanted.reduce((all, each) => all | states[each], 0);
  const mask = new Uint8Array(Uint32Array.of(flags).buffer);
  return [expression("ct", number(2, CT_STATE), number(1, FIRST)), masked(mask), compare("is not", new Uint8Array(4))];
}

/** Continues if the packet goes against its connection's first packet. */
export function isReply(): readonly Expression[] {
  return [expression("ct", number(2, CT_DIRECTION), number(1, FIRST)), compare("is", Uint8Array.of(REPLY))];
}

/** Continues if a port of the packet is in the range, both ends included. */
export function portIn(which: "source" | "destination", first: number, last: number): readonly Expression[] {
  const load = payload(FIRST, TRANSPORT_HEADER, which === "source" ? 0 : DESTINATION_PORT_AT, 2);
  return [load, first === last ? compare("is", u16be(first)) : between(u16be(first), u16be(last))];
}

/** Continues if the type of the ICMP or ICMPv6 message is in the range, both ends included. */
export function messageTypeIn(first: number, last: number): readonly Expression[] {
  return [payload(FIRST, TRANSPORT_HEADER, 0, 1), between(Uint8Array.of(first), Uint8Array.of(last))];
}

/** Continues if the IPv6 packet has this hop limit. */
export function hopLimitIs(limit: number): readonly Expression[] {
  return [payload(FIRST, NETWORK_HEADER, HOP_LIMIT_AT, 1), compare("is", Uint8Array.of(limit))];
}

function between(first: Uint8Array, last: Uint8Array): Expression {
  return expression("range", number(1, FIRST), number(2, 0), value(3, first), value(4, last));
}

/** Continues if the set has the packet's address. */
export function addressInSet(family: 4 | 6, which: "source" | "destination", set: string): readonly Expression[] {
  const { size, [which]: offset } = header[family];
  return [payload(FIRST, NETWORK_HEADER, offset, size), membership(set)];
}

/** Continues if the set has the packet's address with its protocol and destination port. */
export function portInSet(family: 4 | 6, which: "source" | "destination", set: string): readonly Expression[] {
  return [...addressAndPort(family, which), membership(set)];
}

function membership(set: string): Expression {
  return expression("lookup", attribute(1, zeroEnded(set)), number(2, FIRST));
}

/** Follows the map's verdict for the name of the link that received the frame. */
export function lookUpLink(map: string): readonly Expression[] {
  return [meta(FIRST, META_IIFNAME), lookup(map)];
}

/** Continues if the frame has another source MAC. */
export function sourceMacIsNot(mac: Uint8Array): readonly Expression[] {
  return [payload(FIRST, LINK_HEADER, SOURCE_MAC_AT, mac.length), compare("is not", mac)];
}

function lookup(map: string): Expression {
  return expression("lookup", attribute(1, zeroEnded(map)), number(2, FIRST), number(3, VERDICT_REGISTER));
}

/** Gives the verdict. */
export function verdictExpression(verdict: Verdict): Expression {
  return expression("immediate", number(1, VERDICT_REGISTER), attribute(2, verdictData(verdict)));
}

/** Changes the connection's destination address and port (DNAT). */
export function changeDestination(address: IpAddress, port: number): readonly Expression[] {
  return [
    expression("immediate", number(1, FIRST), value(2, addressBytes(address))),
    expression("immediate", number(1, SECOND), value(2, u16be(port))),
    expression("nat", number(1, 1), number(2, AF[address.family]), number(3, FIRST), number(5, SECOND)),
  ];
}

/**
 * Changes the connection's destination to one of `count` addresses and ports at random (DNAT). `map` has them by number, as the address and the port behind each
 * other.
 */
export function changeDestinationByMap(family: 4 | 6, count: number, map: string): readonly Expression[] {
  return [
    expression("numgen", number(1, FIRST), number(2, count), number(3, RANDOM)),
    expression("lookup", attribute(1, zeroEnded(map)), number(2, FIRST), number(3, FIRST)),
    expression("nat", number(1, 1), number(2, AF[family]), number(3, FIRST), number(5, wordRegister(header[family].size / 4))),
  ];
}

/**
 * Changes the connection's destination (DNAT) to the one of `destinations` whose number the map of kept destinations has for the packet's client, and renews the time of
 * the map's element; continues if the map has none.
 */
export function changeDestinationToKept(family: 4 | 6, destinations: string, kept: KeptDestinations): readonly Expression[] {
  const { data } = keptRegisters(family);
  const found = expression("lookup", attribute(1, zeroEnded(kept.map)), number(2, FIRST), number(3, data));
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
  const chosen = expression("numgen", number(1, data), number(2, count), number(3, RANDOM));
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
    expression("dynset", attribute(1, zeroEnded(map)), number(3, UPDATE), number(4, FIRST), number(5, data), timeout),
    expression("lookup", attribute(1, zeroEnded(destinations)), number(2, data), number(3, data)),
    expression("nat", number(1, 1), number(2, AF[family]), number(3, data), number(5, port)),
  ];
}

/** Continues if the set has the destination address of the connection's first packet. */
export function originalDestinationInSet(family: 4 | 6, set: string): readonly Expression[] {
  return [connection(CT_ADDRESS[family].destination), membership(set)];
}

/** Refuses the packet: a reset for TCP, otherwise a message that the port is unreachable. */
export function refusal(answer: "reset" | "unreachable"): Expression {
  return expression(
    "reject",
    number(1, answer === "reset" ? 1 : 2),
    ...(answer === "reset" ? [] : [attribute(2, Uint8Array.of(PORT_UNREACHABLE))]),
  );
}

/** Gives the connection the node's address as its source. */
export function masquerade(): Expression {
  return expression("masq");
}

/** A verdict as the data of a map's element or of an immediate expression (NFTA_DATA_VERDICT). */
export function verdictData(verdict: Verdict): Uint8Array {
  const code = { drop: 0, accept: 1, jump: -3, return: -5 }[verdict.kind];
  const chain = verdict.kind === "jump" ? [attribute(2, zeroEnded(verdict.chain))] : [];
  return attribute(DATA_VERDICT, concat([attribute(1, u32be(code >>> 0)), ...chain]));
}

/** The chain that a verdict jumps or goes to; undefined for another verdict. */
export function chainOfVerdict(data: Uint8Array | undefined): string | undefined {
  const chain = attributesIn(data).within(DATA_VERDICT).get(2);
  return chain === undefined ? undefined : textIn(chain);
}

/** The chain that an immediate expression jumps or goes to; undefined for another expression. */
export function chainOfJump({ name, data }: Expression): string | undefined {
  return name === "immediate" ? chainOfVerdict(attributesIn(data).get(2)) : undefined;
}

/** Whether installed expressions are the requested ones. The kernel may list more attributes than were requested. */
export function sameExpressions(requested: readonly Expression[], installed: readonly Expression[]): boolean {
  return (
    requested.length === installed.length &&
    requested.every(({ name, data }, index) => {
      const other = installed[index];
      if (other?.name !== name) return false;
      const attributes = attributesIn(other.data);
      return [...attributesIn(data)].every(
        ([type, bytes]) => Buffer.compare(bytes, attributes.get(type) ?? new Uint8Array(0)) === 0,
      );
    })
  );
}

/** The text as the kernel's string. */
export function zeroEnded(text: string): Uint8Array {
  return new TextEncoder().encode(`${text}\0`);
}
