// Expressions, of which a rule of nftables is made (linux/netfilter/nf_tables.h): each loads, compares, or decides. They are written
// as the kernel tells them back, so that what is in force can be compared with what was asked for. No I/O.

import type { IpAddress } from "../../src/net/ip.ts";
import { attribute, attributesIn, textIn } from "../netlink/attributes.ts";
import { concat } from "../netlink/bytes.ts";
import { u16be, u32be } from "./big-endian.ts";

export interface Expression {
  readonly name: string;
  /** Its attributes. */
  readonly data: Uint8Array;
}

/** What becomes of a packet that comes to its end. */
export type Verdict = { readonly kind: "jump"; readonly chain: string } | { readonly kind: "return" | "drop" };

/** Registers, as the kernel names them. 1 and 2 hold 16 bytes; 9 to 12 are register 1's second word and the following ones. */
const VERDICT_REGISTER = 0;
const FIRST = 1;
const SECOND = 2;
const FIRST_WORDS = 8;

const DATA_VALUE = 1;
const DATA_VERDICT = 2;
const LINK_HEADER = 0;
const NETWORK_HEADER = 1;
const TRANSPORT_HEADER = 2;
const DESTINATION_PORT_AT = 2;
const SOURCE_MAC_AT = 6;
const META_IIF = 4;
const META_IIFNAME = 6;
const META_L4PROTO = 16;
const CT_STATUS = 2;
const CT_PROTO_DST = 12;
const CT_DST_IP = 20;
const CT_DST_IP6 = 22;
const STATUS_DNAT = 0x20;
const RTN_LOCAL = 2;
const AF = { 4: 2, 6: 10 } as const;
/** Where addresses are in the IP header, and how long they are. */
const header = { 4: { source: 12, destination: 16, size: 4 }, 6: { source: 8, destination: 24, size: 16 } } as const;

const number = (type: number, value: number): Uint8Array => attribute(type, u32be(value));
const value = (type: number, bytes: Uint8Array): Uint8Array => attribute(type, attribute(DATA_VALUE, bytes));

function expression(name: string, ...attributes: readonly Uint8Array[]): Expression {
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

/** The bytes of an address, as packets have them. */
export function addressBytes({ family, value: bits }: IpAddress): Uint8Array {
  const { size } = header[family];
  return Uint8Array.from({ length: size }, (_, index) => Number((bits >> BigInt(8 * (size - 1 - index))) & 0xffn));
}

/** The bytes of a prefix's mask: those of `prefix` ones. */
export function maskBytes(family: 4 | 6, prefix: number): Uint8Array {
  return Uint8Array.from(
    { length: header[family].size },
    (_, index) => (0xff00 >> Math.min(8, Math.max(0, prefix - 8 * index))) & 0xff,
  );
}

/** Goes on where the packet's address is in this network, or is not. Of whole bytes as many as the prefix has are loaded, as nft does. */
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

/** Goes on where the packet is of this protocol. */
export function protocolIs(protocol: number): readonly Expression[] {
  return [meta(FIRST, META_L4PROTO), compare("is", Uint8Array.of(protocol))];
}

/** Goes on where the packet goes to this port. */
export function destinationPortIs(port: number): readonly Expression[] {
  return [payload(FIRST, TRANSPORT_HEADER, DESTINATION_PORT_AT, 2), compare("is", u16be(port))];
}

/** Goes on where the connection's first packet went to this port. */
export function originalPortIs(port: number): readonly Expression[] {
  return [connection(CT_PROTO_DST), compare("is", u16be(port))];
}

/** Goes on where the connection's first packet went to this address. */
export function originalAddressIs(address: IpAddress): readonly Expression[] {
  return [connection(address.family === 4 ? CT_DST_IP : CT_DST_IP6), compare("is", addressBytes(address))];
}

/** In the original direction. */
function connection(key: number): Expression {
  return expression("ct", number(2, key), number(1, FIRST), attribute(3, Uint8Array.of(0)));
}

/** Goes on where the connection's destination was changed. */
export function destinationWasChanged(): readonly Expression[] {
  const flag = new Uint8Array(Uint32Array.of(STATUS_DNAT).buffer);
  return [expression("ct", number(2, CT_STATUS), number(1, FIRST)), masked(flag), compare("is not", new Uint8Array(4))];
}

/** Goes on where the packet did not come by the loopback, which is link 1 of each namespace. */
export function notByLoopback(): readonly Expression[] {
  return [meta(FIRST, META_IIF), compare("is not", new Uint8Array(Uint32Array.of(1).buffer))];
}

/** Goes on where the packet's destination is an address of the node. */
export function destinationIsLocal(): readonly Expression[] {
  const [type, destination] = [3, 2];
  const local = new Uint8Array(Uint32Array.of(RTN_LOCAL).buffer);
  return [expression("fib", number(1, FIRST), number(2, type), number(3, destination)), compare("is", local)];
}

/** Does what the map says of the packet's address; goes on where it says nothing. */
export function lookUpAddress(family: 4 | 6, which: "source" | "destination", map: string): readonly Expression[] {
  const { size, [which]: offset } = header[family];
  return [payload(FIRST, NETWORK_HEADER, offset, size), lookup(map)];
}

/** Does what the map says of the packet's protocol and port, with `at` of its destination address before them. */
export function lookUpPort(family: 4 | 6, at: boolean, map: string): readonly Expression[] {
  const words = at ? header[family].size / 4 : 0;
  const register = (word: number): number => (word === 0 ? FIRST : word === 4 ? SECOND : FIRST_WORDS + word);
  return [
    ...(at ? [payload(FIRST, NETWORK_HEADER, header[family].destination, header[family].size)] : []),
    meta(register(words), META_L4PROTO),
    payload(register(words + 1), TRANSPORT_HEADER, DESTINATION_PORT_AT, 2),
    lookup(map),
  ];
}

/** Does what the map says of the link's name that the frame came by. */
export function lookUpLink(map: string): readonly Expression[] {
  return [meta(FIRST, META_IIFNAME), lookup(map)];
}

/** Goes on where the frame's source is another one. */
export function sourceMacIsNot(mac: Uint8Array): readonly Expression[] {
  return [payload(FIRST, LINK_HEADER, SOURCE_MAC_AT, mac.length), compare("is not", mac)];
}

function lookup(map: string): Expression {
  return expression("lookup", attribute(1, zeroEnded(map)), number(2, FIRST), number(3, VERDICT_REGISTER));
}

/** Ends the packet's way through the chain. */
export function decide(verdict: Verdict): Expression {
  return expression("immediate", number(1, VERDICT_REGISTER), attribute(2, verdictData(verdict)));
}

/** Sends the connection to another address and port. */
export function changeDestination(address: IpAddress, port: number): readonly Expression[] {
  return [
    expression("immediate", number(1, FIRST), value(2, addressBytes(address))),
    expression("immediate", number(1, SECOND), value(2, u16be(port))),
    expression("nat", number(1, 1), number(2, AF[address.family]), number(3, FIRST), number(5, SECOND)),
  ];
}

/** Gives the connection the node's address as its source. */
export function masquerade(): Expression {
  return expression("masq");
}

/** NFTA_DATA_VERDICT: what a map or an immediate holds. */
export function verdictData(verdict: Verdict): Uint8Array {
  const code = { drop: 0, jump: -3, return: -5 }[verdict.kind];
  const chain = verdict.kind === "jump" ? [attribute(2, zeroEnded(verdict.chain))] : [];
  return attribute(DATA_VERDICT, concat([attribute(1, u32be(code >>> 0)), ...chain]));
}

/** The chain that a verdict jumps or goes to; undefined where it is another one. */
export function chainOfVerdict(data: Uint8Array | undefined): string | undefined {
  const chain = attributesIn(data).within(DATA_VERDICT).get(2);
  return chain === undefined ? undefined : textIn(chain);
}

/** The chain that an immediate expression jumps or goes to. */
export function chainOfJump({ name, data }: Expression): string | undefined {
  return name === "immediate" ? chainOfVerdict(attributesIn(data).get(2)) : undefined;
}

/** Whether what is in force is what was asked for: the kernel may tell more than it was told. */
export function sameExpressions(asked: readonly Expression[], inForce: readonly Expression[]): boolean {
  return (
    asked.length === inForce.length &&
    asked.every(({ name, data }, index) => {
      const other = inForce[index];
      if (other?.name !== name) return false;
      const told = attributesIn(other.data);
      return [...attributesIn(data)].every(([type, bytes]) => Buffer.compare(bytes, told.get(type) ?? new Uint8Array(0)) === 0);
    })
  );
}

function zeroEnded(text: string): Uint8Array {
  return new TextEncoder().encode(`${text}\0`);
}
