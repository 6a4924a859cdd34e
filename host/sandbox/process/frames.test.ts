import { array, assert, jsonValue, nat, property, uint8Array } from "fast-check";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { decodeBody, encodeFrame, FrameDecoder, frameTypes } from "./frames.ts";

/** A function that collects garbage. */
function collector(): () => void {
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("gc");
  if (typeof collect !== "function") throw new Error("V8 has no function that collects");
  return () => void Reflect.apply(collect, undefined, []);
}

function usedBytes(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

describe("frames between engine and sandbox", () => {
  it("are decoded from any chunks of the stream", () => {
    assert(
      property(array(jsonValue(), { maxLength: 4 }), uint8Array(), nat(20), (values, raw, step) => {
        const decoder = new FrameDecoder(1 << 20);
        const stream = Buffer.concat(
          values.map((value, index) => encodeFrame(frameTypes.LOAD, 0xffff_fff0 + index, value, [raw])),
        );
        const frames = [];
        for (let at = 0; at < stream.length; at += step + 1) frames.push(...decoder.push(stream.subarray(at, at + step + 1)));
        expect(frames.map(({ json }) => json)).toEqual(values.map((value): unknown => JSON.parse(JSON.stringify(value))));
        expect(frames.map(({ call }) => call)).toEqual(values.map((_, index) => 0xffff_fff0 + index));
        for (const frame of frames) expect(Buffer.compare(frame.raw, raw)).toBe(0);
      }),
    );
  });

  it("are refused if they are too long, before their content has arrived", () => {
    const decoder = new FrameDecoder(100);
    const head = Buffer.alloc(4);
    head.writeUInt32LE(101);
    expect(() => decoder.push(head)).toThrow("a frame of 101 bytes (at most 100)");
  });

  it("cost their own size, although their sender writes byte by byte", () => {
    const decoder = new FrameDecoder(1 << 24);
    const head = Buffer.alloc(4);
    head.writeUInt32LE(1 << 24);
    decoder.push(head);
    const collect = collector();
    collect();
    const before = usedBytes();
    for (let count = 0; count < 200_000; count++) decoder.push(Buffer.alloc(1));
    collect();
    expect(usedBytes() - before).toBeLessThan(8_000_000);
    // The decoder lives until here.
    expect(decoder.push(Buffer.alloc(1))).toEqual([]);
  });

  it("are refused if their lengths contradict each other or their JSON is invalid", () => {
    expect(() => decodeBody(Buffer.of(1, 0))).toThrow("without its fixed fields");
    expect(() => decodeBody(Buffer.of(1, 0, 0, 0, 0, 200, 0, 0, 0, 0x7b))).toThrow("overruns");
    expect(() => decodeBody(Buffer.of(1, 0, 0, 0, 0, 1, 0, 0, 0, 0x7b))).toThrow(SyntaxError);
  });
});
