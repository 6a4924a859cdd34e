// Expressions that load a value of the packet into registers, for a comparison, a look-up or a change. No I/O.

import type { IpAddress } from "../../../src/net/ip.ts";
import { type Expression, expression, numberAttribute } from "./expressions.ts";

/** The kernel's register numbers. Registers 1 and 2 have 16 bytes; 9 to 12 are the words of register 1 from the second one on. */
export const FIRST_REGISTER = 1;
export const SECOND_REGISTER = 2;
const FIRST_WORDS = 8;

/** The header from which an offset counts. */
export const LINK_HEADER = 0;
export const NETWORK_HEADER = 1;
export const TRANSPORT_HEADER = 2;
/** The offset of the destination port in the headers of TCP, UDP and SCTP. */
export const DESTINATION_PORT_AT = 2;
/** NFT_META_L4PROTO. */
export const META_L4PROTO = 16;
/** The name of the link that received the packet. */
export const META_IIFNAME = 6;
/** Offsets of the addresses in the IP header, and their size, in bytes. */
export const header = { 4: { source: 12, destination: 16, size: 4 }, 6: { source: 8, destination: 24, size: 16 } } as const;

/** Loads bytes of a header. */
export function payload(register: number, base: number, offset: number, length: number): Expression {
  return expression(
    "payload",
    numberAttribute(1, register),
    numberAttribute(2, base),
    numberAttribute(3, offset),
    numberAttribute(4, length),
  );
}

/** Loads what the kernel knows of the packet beside its bytes (NFT_META). */
export const meta = (register: number, key: number): Expression =>
  expression("meta", numberAttribute(2, key), numberAttribute(1, register));

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

/** Loads an address, the protocol and the destination port. */
export function addressAndPort(family: 4 | 6, which: "source" | "destination"): readonly Expression[] {
  const { size, [which]: offset } = header[family];
  return [payload(FIRST_REGISTER, NETWORK_HEADER, offset, size), ...protocolAndPort(size / 4)];
}

/** The register that begins with this word. */
export function wordRegister(at: number): number {
  return at === 0 ? FIRST_REGISTER : at === 4 ? SECOND_REGISTER : FIRST_WORDS + at;
}

/** Loads the protocol and the destination port behind so many words. */
export function protocolAndPort(words: number): readonly Expression[] {
  return [meta(wordRegister(words), META_L4PROTO), payload(wordRegister(words + 1), TRANSPORT_HEADER, DESTINATION_PORT_AT, 2)];
}
