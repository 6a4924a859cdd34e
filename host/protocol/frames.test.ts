import * as fc from "fast-check";
import { describe, expect, test } from "vitest";

import { encodeFrame, FrameDecoder, PAYLOAD_MAX_BYTES, type Frame } from "./frames.ts";

const u32 = fc.nat({ max: 0xffff_ffff });
const anyFrame: fc.Arbitrary<Frame> = fc.record({
  type: fc.nat({ max: 255 }),
  channel: u32,
  payload: fc.uint8Array({ maxLength: 200_000, size: "+1" }),
});

function bytesOf(frame: Frame): Uint8Array {
  const encoded = encodeFrame(frame);
  if (!encoded.ok) throw new Error(encoded.fault.msg);
  return encoded.value;
}

function decodeAll(decoder: FrameDecoder): Frame[] {
  const frames: Frame[] = [];
  for (;;) {
    const next = decoder.next();
    if (!next.ok) throw new Error(next.fault.msg);
    if (next.value === undefined) return frames;
    frames.push(next.value);
  }
}

describe("frames", () => {
  test("a frame has the bytes that PROTOCOL.md gives", () => {
    const bytes = bytesOf({ type: 17, channel: 0x8000_0001, payload: Uint8Array.of(1, 2, 3) });
    expect([...bytes]).toEqual([3, 0, 0, 0, 4, 17, 0, 0, 1, 0, 0, 0x80, 1, 2, 3]);
  });

  test("any frames, split into any chunks, are decoded unchanged", () => {
    fc.assert(
      fc.property(
        fc.array(anyFrame, { maxLength: 6 }),
        fc.array(fc.integer({ min: 1, max: 90_000 }), { minLength: 1, maxLength: 20 }),
        (frames, cuts) => {
          const bytes = Buffer.concat(frames.map(bytesOf));
          const decoder = new FrameDecoder();
          const decoded: Frame[] = [];
          for (let at = 0, i = 0; at < bytes.length; i++) {
            const size = cuts[i % cuts.length] ?? 1;
            decoder.push(bytes.subarray(at, at + size));
            decoded.push(...decodeAll(decoder));
            at += size;
          }
          expect(decoded).toEqual(frames);
          expect(decoder.betweenFrames).toBe(true);
        },
      ),
      { numRuns: 60 },
    );
  });

  test("the longest payload is encoded and decoded; one byte more is refused", () => {
    const longest = new Uint8Array(PAYLOAD_MAX_BYTES);
    longest[PAYLOAD_MAX_BYTES - 1] = 7;
    const decoder = new FrameDecoder();
    decoder.push(bytesOf({ type: 2, channel: 1, payload: longest }));
    const [frame] = decodeAll(decoder);
    expect([frame?.payload.length, frame?.payload.at(-1)]).toEqual([PAYLOAD_MAX_BYTES, 7]);
    const refused = encodeFrame({ type: 2, channel: 1, payload: new Uint8Array(PAYLOAD_MAX_BYTES + 1) });
    expect(refused).toMatchObject({ ok: false, fault: { kind: "SHIM_PROTOCOL" } });
  });

  test.each([
    ["another version", [0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0], "protocol version 1"],
    ["reserved bytes", [0, 0, 0, 0, 4, 1, 0, 1, 0, 0, 0, 0], "reserved bytes are 256"],
    ["too long a payload", [1, 0, 0, 2, 4, 1, 0, 0, 0, 0, 0, 0], "33554433 bytes"],
    ["a length of 4 GiB", [255, 255, 255, 255, 4, 1, 0, 0, 0, 0, 0, 0], "4294967295 bytes"],
  ])("%s is refused after the header, before memory for the payload is allocated", (_, header, message) => {
    const decoder = new FrameDecoder();
    decoder.push(Uint8Array.from(header));
    expect(decoder.next()).toMatchObject({
      ok: false,
      fault: { kind: "SHIM_PROTOCOL", code: 999, msg: expect.stringContaining(message) },
    });
  });

  test("the decoder knows whether the stream ends within a frame or between two", () => {
    const decoder = new FrameDecoder();
    decoder.push(bytesOf({ type: 1, channel: 0, payload: Uint8Array.of(1) }).subarray(0, 12));
    expect(decodeAll(decoder)).toEqual([]);
    expect(decoder.betweenFrames).toBe(false);
    decoder.push(Uint8Array.of(1));
    expect(decodeAll(decoder)).toHaveLength(1);
    expect(decoder.betweenFrames).toBe(true);
  });
});
