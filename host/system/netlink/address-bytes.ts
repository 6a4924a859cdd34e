// Addresses in the kernel's form: IP addresses in network byte order, MAC addresses.

import { formatAddress, type IpAddress } from "../../../src/net/ip.ts";

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
