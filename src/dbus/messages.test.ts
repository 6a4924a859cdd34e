import { describe, expect, test } from "vitest";
import { receivedMessages } from "./messages.ts";

const u32 = (value: number): readonly number[] => [0, 8, 16, 24].map((shift) => (value >> shift) & 255);
const texts = (value: string): readonly number[] => [...u32(value.length), ...new TextEncoder().encode(value), 0];
const padded = (bytes: readonly number[]): readonly number[] => [...bytes, ...new Uint8Array((8 - (bytes.length % 8)) % 8)];

/** A message in little-endian order. Its header has field 5 (serial of the call), with `name` field 4, and with a body field 8 (signature). */
function message(type: number, serial: number, signature: string, body: readonly number[], name?: string): Uint8Array {
  let fields: readonly number[] = [5, 1, 117, 0, ...u32(serial)];
  if (name !== undefined) fields = [...padded(fields), 4, 1, 115, 0, ...texts(name)];
  if (signature !== "") fields = [...padded(fields), 8, 1, 103, 0, signature.length, ...new TextEncoder().encode(signature), 0];
  const head = padded([0x6c, type, 1, 1, ...u32(body.length), ...u32(7), ...u32(fields.length), ...fields]);
  return Uint8Array.from([...head, ...body]);
}

describe("messages of D-Bus", () => {
  test("answers, errors and other messages are told apart, and an incomplete one waits", () => {
    const returned = message(2, 4, "s", texts("trusted"));
    const refused = message(3, 5, "s", texts("ZONE_ALREADY_SET: 10.1.0.5"), "org.fedoraproject.FirewallD1.Exception");
    const signal = message(4, 6, "", []);
    const both = Uint8Array.from([
      ...signal,
      ...returned,
      ...message(2, 8, "b", [1, 0, 0, 0]),
      ...refused,
      ...returned.subarray(0, 20),
    ]);
    expect(receivedMessages(both)).toEqual({
      ok: true,
      messages: [
        { kind: "other" },
        { kind: "answer", serial: 4, value: "trusted" },
        { kind: "answer", serial: 8, value: true },
        { kind: "error", serial: 5, name: "org.fedoraproject.FirewallD1.Exception", text: "ZONE_ALREADY_SET: 10.1.0.5" },
      ],
      rest: returned.subarray(0, 20),
    });
  });

  test("a message that is too large, of another byte order or cut in its fields ends the conversation", () => {
    const returned = message(2, 4, "s", texts("trusted"));
    const large = Uint8Array.from(returned);
    large.set([0, 0, 2, 0], 4);
    const cut = Uint8Array.from(returned);
    // The body's text claims more bytes than the message has.
    cut.set([200, 0, 0, 0], cut.length - 12);
    for (const bytes of [large, cut, Uint8Array.from(returned).fill(0x42, 0, 1)])
      expect(receivedMessages(bytes)).toMatchObject({ ok: false });
  });

  test("each prefix of a message is incomplete, and none is malformed", () => {
    const returned = message(2, 4, "s", texts("trusted"));
    for (let size = 0; size < returned.length; size++)
      expect(receivedMessages(returned.subarray(0, size))).toEqual({ ok: true, messages: [], rest: returned.subarray(0, size) });
  });
});
