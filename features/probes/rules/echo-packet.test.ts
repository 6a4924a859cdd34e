import { expect, test } from "vitest";
import { echoAnswerIn, echoPacket, fullEcho } from "./echo-packet.ts";

const v4 = { source: Uint8Array.of(10, 0, 0, 2), target: Uint8Array.of(10, 0, 0, 1), identifier: 0x1234, size: 64 };
const address = (last: number): Uint8Array => Uint8Array.of(0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last);
const v6 = { source: address(2), target: address(1), identifier: 0x1234, size: 88 };

/** The Internet checksum over bytes that contain their checksum. */
function sumOf(bytes: Uint8Array): number {
  let sum = 0;
  for (let at = 0; at < bytes.length; at += 2) sum += ((bytes[at] ?? 0) << 8) + (bytes[at + 1] ?? 0);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return sum;
}

test("PR-05: an echo request of IPv4 has its length, DF and valid checksums", () => {
  const packet = echoPacket(4, v4);
  expect([...packet.subarray(0, 10)]).toEqual([0x45, 0, 0, 64, 0x12, 0x34, 0x40, 0, 64, 1]);
  expect([sumOf(packet.subarray(0, 20)), sumOf(packet.subarray(20))]).toEqual([0xffff, 0xffff]);
});

test("PR-05: an echo request of IPv6 has a checksum over the pseudo-header", () => {
  const packet = echoPacket(6, v6);
  const message = packet.subarray(40);
  const pseudo = Uint8Array.of(...v6.source, ...v6.target, 0, 0, 0, message.length, 0, 0, 0, 58, ...message);
  expect(sumOf(pseudo)).toBe(0xffff);
});

test("PR-05: replies, errors with an MTU, and answers of other requests are told apart", () => {
  const reply = echoPacket(4, v4);
  reply[20] = 0;
  expect(echoAnswerIn(4, reply, 0x1234)).toEqual({ kind: "reply" });
  expect(echoAnswerIn(4, reply, 1)).toBeUndefined();
  const head = echoPacket(4, { ...v4, size: 28 });
  head.set([3, 4, 0, 0, 0, 0, 1400 >> 8, 1400 & 0xff], 20);
  expect(echoAnswerIn(4, Uint8Array.of(...head, ...echoPacket(4, v4)), 0x1234)).toEqual({ kind: "too-big", mtu: 1400 });
  head.set([3, 1], 20);
  expect(echoAnswerIn(4, Uint8Array.of(...head, ...echoPacket(4, v4)), 0x1234)).toEqual({ kind: "unreachable" });
  const head6 = echoPacket(6, { ...v6, size: 48 });
  head6.set([2, 0, 0, 0, 0, 0, 5, 0], 40);
  expect(echoAnswerIn(6, Uint8Array.of(...head6, ...echoPacket(6, v6)), 0x1234)).toEqual({ kind: "too-big", mtu: 1280 });
  expect(echoAnswerIn(6, head6.subarray(0, 44), 0x1234)).toBeUndefined();
});

test("a link whose MTU is smaller than a header is asked with the smallest packet", () => {
  expect([0, 65, 1400, 1401, 9000].map((mtu) => fullEcho(4, mtu))).toEqual([64, 64, 1400, 1400, 1500]);
  expect(echoPacket(6, { ...v6, size: fullEcho(6, 10) })).toHaveLength(88);
  expect(() => echoPacket(4, { ...v4, size: 10 })).toThrow(RangeError);
});
