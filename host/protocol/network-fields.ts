// The lists that SYSCTL, PACKET and ASK carry in one field (PROTOCOL.md).

import type { AskKind, LinkPacket, Setting } from "./messages.ts";

/** Length of an Ethernet address. */
export const HARDWARE_ADDRESS_BYTES = 6;
const PACKET_HEADER_BYTES = 12;

/** Encodes packets, each with a header: u32 length of the payload, ethertype in network byte order, destination. */
export function packetBytes(packets: readonly LinkPacket[]): Uint8Array {
  const bytes = new Uint8Array(packets.reduce((size, { payload }) => size + PACKET_HEADER_BYTES + payload.length, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const { ethertype, destination, payload } of packets) {
    view.setUint32(at, payload.length, true);
    view.setUint16(at + 4, ethertype);
    bytes.set(destination.subarray(0, HARDWARE_ADDRESS_BYTES), at + 6);
    bytes.set(payload, at + PACKET_HEADER_BYTES);
    at += PACKET_HEADER_BYTES + payload.length;
  }
  return bytes;
}

/** Decodes packets; undefined if the bytes are malformed. In the answers of an ASK each destination is the sender. */
export function packetsIn(bytes: Uint8Array): readonly LinkPacket[] | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const packets: LinkPacket[] = [];
  for (let at = 0; at < bytes.length;) {
    const begin = at + PACKET_HEADER_BYTES;
    const end = begin > bytes.length ? Infinity : begin + view.getUint32(at, true);
    if (end > bytes.length) return undefined;
    packets.push({
      ethertype: view.getUint16(at + 4),
      destination: bytes.subarray(at + 6, begin),
      payload: bytes.subarray(begin, end),
    });
    at = end;
  }
  return packets;
}

/** The bytes of one key of each kind of ASK. */
export const askKeyBytes: Readonly<Record<AskKind, number>> = { arp: 4, neighbour: 16, dhcp: 4, echo: 4, echo6: 16 };

/** Decodes the keys of an ASK; undefined if their bytes are not a multiple of a key's. */
export function askKeysIn(answers: AskKind, bytes: Uint8Array): readonly Uint8Array[] | undefined {
  const size = askKeyBytes[answers];
  if (bytes.length % size !== 0) return undefined;
  return Array.from({ length: bytes.length / size }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
}

/** Encodes settings: key and value alternate, each with a NUL. */
export function settingsRow(settings: readonly Setting[]): string {
  return settings.map(({ key, value }) => `${key}\0${value}\0`).join("");
}

/** Decodes settings; undefined if the text is malformed. */
export function settingsIn(row: string): readonly Setting[] | undefined {
  const texts = row.split("\0");
  if (texts.pop() !== "" || texts.length % 2 !== 0) return undefined;
  return texts.flatMap((key, at) => (at % 2 === 0 ? [{ key, value: texts[at + 1] ?? "" }] : []));
}
