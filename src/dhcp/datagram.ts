// IPv4 packets with a UDP datagram of DHCP, without their link-layer header. Pure.

/** Ports of servers and clients. */
const SERVER_PORT = 67;
const CLIENT_PORT = 68;
const IP_BYTES = 20;
const UDP_BYTES = 8;
const UDP = 17;
const TTL = 64;

/** The packet of a client. Addresses have four bytes. */
export function clientDatagram(source: Uint8Array, destination: Uint8Array, message: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(IP_BYTES + UDP_BYTES + message.length);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, 0x45);
  view.setUint16(2, bytes.length);
  view.setUint8(8, TTL);
  view.setUint8(9, UDP);
  bytes.set(source, 12);
  bytes.set(destination, 16);
  view.setUint16(10, ~sumOf(bytes.subarray(0, IP_BYTES)) & 0xffff);
  view.setUint16(IP_BYTES, CLIENT_PORT);
  view.setUint16(IP_BYTES + 2, SERVER_PORT);
  view.setUint16(IP_BYTES + 4, UDP_BYTES + message.length);
  bytes.set(message, IP_BYTES + UDP_BYTES);
  // The pseudo-header: addresses, protocol, length (RFC 768). A sum of 0 is sent as 0xffff.
  const pseudo = sumOf(bytes.subarray(12, IP_BYTES)) + UDP + UDP_BYTES + message.length;
  const sum = ~folded(pseudo + sumOf(bytes.subarray(IP_BYTES))) & 0xffff;
  view.setUint16(IP_BYTES + 6, sum === 0 ? 0xffff : sum);
  return bytes;
}

/** The message in a server's packet; undefined if its headers don't fit. The checksum counts not: a veth leaves it incomplete. */
export function messageInDatagram(packet: Uint8Array): Uint8Array | undefined {
  const view = new DataView(packet.buffer, packet.byteOffset, packet.byteLength);
  const first = packet[0] ?? 0;
  const header = (first & 15) * 4;
  if (first >> 4 !== 4 || header < IP_BYTES || packet.length < header + UDP_BYTES) return undefined;
  const length = view.getUint16(header + 4);
  if (length < UDP_BYTES || header + length > packet.length) return undefined;
  return packet.subarray(header + UDP_BYTES, header + length);
}

/** The Internet checksum's sum (RFC 1071), folded to 16 bits. */
function sumOf(bytes: Uint8Array): number {
  let sum = 0;
  for (let at = 0; at < bytes.length; at += 2) sum += ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
  return folded(sum);
}

function folded(sum: number): number {
  let rest = sum;
  while (rest > 0xffff) rest = (rest & 0xffff) + (rest >>> 16);
  return rest;
}
