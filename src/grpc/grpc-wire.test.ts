import { expect, test } from "vitest";
import { FrameReader, framed, headerText, textOfHeader } from "./grpc-wire.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const texts = (messages: readonly Uint8Array[]): readonly string[] => messages.map((each) => new TextDecoder().decode(each));

test("messages come out whole, however the bytes are divided", () => {
  const whole = new Uint8Array([...framed(bytes("one")), ...framed(bytes("")), ...framed(bytes("three"))]);
  for (let size = 1; size <= whole.length; size++) {
    const reader = new FrameReader(64, "NETWORK_CONFIG_INVALID");
    const messages: Uint8Array[] = [];
    for (let at = 0; at < whole.length; at += size) {
      const read = reader.read(whole.slice(at, at + size));
      if (read.ok) messages.push(...read.value);
    }
    expect(texts(messages)).toEqual(["one", "", "three"]);
    expect(reader.isEmpty).toBe(true);
  }
});

test("a message that is too long or compressed is refused by its prefix", () => {
  expect(new FrameReader(8, "NETWORK_CONFIG_INVALID").read(framed(bytes("ninebytes")).slice(0, 5))).toMatchObject({
    fault: { kind: "BOUND_EXCEEDED" },
  });
  expect(new FrameReader(8, "NETWORK_CONFIG_INVALID").read(new Uint8Array([1, 0, 0, 0, 1, 7]))).toMatchObject({
    fault: { kind: "NETWORK_CONFIG_INVALID" },
  });
});

test("a text survives a header, and a header has printable ASCII only", () => {
  const text = "100 % of „br0“\nfailed";
  expect(headerText(text)).toMatch(/^[ -~]*$/);
  expect(textOfHeader(headerText(text))).toBe(text);
  expect(textOfHeader("%zz")).toBe("%zz");
});
