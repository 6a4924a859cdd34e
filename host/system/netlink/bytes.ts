// Numbers, text and addresses of netlink messages. Numbers are in the machine's own byte order, IP addresses in network byte order. No I/O.

import { formatAddress, type IpAddress } from "../../../src/net/ip.ts";

const littleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

const encoder = new TextEncoder();

/** A number of two bytes; 0 beyond the end. No destructuring here and below: it would make thousands of arrays in an attachment. */
export function u16At(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0;
  const second = bytes[at + 1] ?? 0;
  if (at + 2 > bytes.length) return 0;
  return littleEndian ? first | (second << 8) : second | (first << 8);
}

/** A number of four bytes; 0 beyond the end. */
export function u32At(bytes: Uint8Array, at: number): number {
  if (at + 4 > bytes.length) return 0;
  const first = u16At(bytes, at);
  const second = u16At(bytes, at + 2);
  return littleEndian ? first + second * 0x1_0000 : second + first * 0x1_0000;
}

/** A signed number of four bytes, such as an index; 0 beyond the end. */
export function i32At(bytes: Uint8Array, at: number): number {
  return u32At(bytes, at) | 0;
}

/** Writes a number of two bytes at an offset. */
export function putU16(bytes: Uint8Array, at: number, value: number): void {
  bytes[littleEndian ? at : at + 1] = value & 0xff;
  bytes[littleEndian ? at + 1 : at] = (value >>> 8) & 0xff;
}

/** Writes a number of four bytes at an offset. */
export function putU32(bytes: Uint8Array, at: number, value: number): void {
  putU16(bytes, littleEndian ? at : at + 2, value & 0xffff);
  putU16(bytes, littleEndian ? at + 2 : at, value >>> 16);
}

/** Four bytes of a number, which may be negative, as an index is. */
export function u32(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  putU32(bytes, 0, value);
  return bytes;
}

/** Two bytes of a number. */
export function u16(value: number): Uint8Array {
  const bytes = new Uint8Array(2);
  putU16(bytes, 0, value);
  return bytes;
}

/** One byte of a number. */
export function u8(value: number): Uint8Array {
  return Uint8Array.of(value);
}

/** UTF-8 with a NUL at its end, as the kernel requires names. */
export function cString(text: string): Uint8Array {
  return encoder.encode(`${text}\0`);
}

/** All parts in one array. */
export function concat(parts: readonly Uint8Array[]): Uint8Array {
  let size = 0;
  for (const part of parts) size += part.length;
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** The length with netlink's padding of messages and attributes. */
export function aligned(length: number): number {
  return (length + 3) & ~3;
}

export const AF_INET = 2;
export const AF_INET6 = 10;

/** The kernel's number of an address family (AF_INET, AF_INET6). */
export function familyNumber(family: 4 | 6): number {
  return family === 4 ? AF_INET : AF_INET6;
}

/** The address in network byte order: 4 or 16 bytes. */
export function addressBytes({ family, value }: IpAddress): Uint8Array {
  const bytes = new Uint8Array(family === 4 ? 4 : 16);
  let rest = value;
  for (let at = bytes.length - 4; at >= 0; at -= 4) {
    const word = Number(rest & 0xffff_ffffn);
    bytes[at] = word >>> 24;
    bytes[at + 1] = word >>> 16;
    bytes[at + 2] = word >>> 8;
    bytes[at + 3] = word;
    rest >>= 32n;
  }
  return bytes;
}

/** Undefined where the number of bytes is not the family's. */
export function addressIn(bytes: Uint8Array | undefined, family: 4 | 6): IpAddress | undefined {
  if (bytes === undefined || bytes.length !== (family === 4 ? 4 : 16)) return undefined;
  let value = BigInt(wordAt(bytes, 0));
  for (let at = 4; at < bytes.length; at += 4) value = (value << 32n) | BigInt(wordAt(bytes, at));
  return { family, value };
}

/** The address as text; undefined where the number of bytes is not the family's. */
export function addressText(bytes: Uint8Array | undefined, family: 4 | 6): string | undefined {
  const address = addressIn(bytes, family);
  return address === undefined ? undefined : formatAddress(address);
}

/** Lower case with colons; empty for no bytes. */
export function macText(bytes: Uint8Array | undefined): string {
  let text = "";
  const length = bytes?.length ?? 0;
  for (let at = 0; at < length; at++) text += `${at === 0 ? "" : ":"}${byteText(bytes?.[at] ?? 0)}`;
  return text;
}

/** Two hexadecimal digits, lower case. */
export function byteText(byte: number): string {
  return `${hexDigit(byte >>> 4)}${hexDigit(byte & 0xf)}`;
}

function hexDigit(digit: number): string {
  return "0123456789abcdef".charAt(digit);
}

/** Four bytes in network byte order. */
function wordAt(bytes: Uint8Array, at: number): number {
  const high = ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
  const low = ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0);
  return high * 0x1_0000 + low;
}

/** The six bytes of a MAC address, with colons or hyphens between its parts; undefined where the text is not a MAC address. */
export function macBytes(text: string): Uint8Array | undefined {
  if (!/^[0-9a-f]{2}(?:([:-])[0-9a-f]{2})(?:\1[0-9a-f]{2}){4}$/iu.test(text)) return undefined;
  return Uint8Array.from(text.split(/[:-]/u), (part) => Number.parseInt(part, 16));
}
