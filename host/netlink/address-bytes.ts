// Addresses as the kernel has them: IP addresses in network byte order, MAC addresses.

import { formatAddress, type IpAddress } from "../../src/net/ip.ts";

export const AF_INET = 2;
export const AF_INET6 = 10;

export function familyNumber(family: 4 | 6): number {
  return family === 4 ? AF_INET : AF_INET6;
}

export function addressBytes({ family, value }: IpAddress): Uint8Array {
  const size = family === 4 ? 4 : 16;
  return Uint8Array.from({ length: size }, (_, index) => Number((value >> BigInt(8 * (size - 1 - index))) & 0xffn));
}

/** Undefined where there are none, or not as many as the family has. */
export function addressIn(bytes: Uint8Array | undefined, family: 4 | 6): IpAddress | undefined {
  if (bytes === undefined || bytes.length !== (family === 4 ? 4 : 16)) return undefined;
  return { family, value: bytes.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n) };
}

export function addressText(bytes: Uint8Array | undefined, family: 4 | 6): string | undefined {
  const address = addressIn(bytes, family);
  return address === undefined ? undefined : formatAddress(address);
}

/** Lower case with colons; empty for no bytes. */
export function macText(bytes: Uint8Array | undefined): string {
  return Array.from(bytes ?? [], (byte) => byte.toString(16).padStart(2, "0")).join(":");
}

/** The six bytes of a MAC address, whose parts are parted by colons or hyphens; undefined where the text is none. */
export function macBytes(text: string): Uint8Array | undefined {
  if (!/^[0-9a-f]{2}(?:([:-])[0-9a-f]{2})(?:\1[0-9a-f]{2}){4}$/iu.test(text)) return undefined;
  return Uint8Array.from(text.split(/[:-]/u), (part) => Number.parseInt(part, 16));
}
