import { array, assert, jsonValue, nat, property, uint8Array } from "fast-check";
import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { decodeBody, encodeFrame, FrameDecoder, frameTypes } from "./frames.ts";

/** Collects garbage. */
function collect(): void {
  setFlagsFromString("--expose-gc");
  const gc: unknown = runInNewContext("gc");
  if (typeof gc !== "function") throw new Error("V8 has no function that collects");
  Reflect.apply(gc, undefined, []);
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

  it("are held without their chunks, although their sender writes byte by byte", async () => {
    const decoder = new FrameDecoder(1 << 24);
    const head = Buffer.alloc(4);
    head.writeUInt32LE(1 << 24);
    decoder.push(head);
    const chunks = Array.from({ length: 5000 }, () => {
      const chunk = Buffer.alloc(1);
      decoder.push(chunk);
      return new WeakRef(chunk);
    });
    // In a later turn: a WeakRef keeps its object for the turn.
    await setImmediate();
    collect();
    expect(chunks.filter((chunk) => chunk.deref() !== undefined).length).toBeLessThan(100);
    // The decoder lives until here.
    expect(decoder.push(Buffer.alloc(1))).toEqual([]);
  });

  it("are refused if their lengths contradict each other or their JSON is invalid", () => {
    expect(() => decodeBody(Buffer.of(1, 0))).toThrow("without its fixed fields");
    expect(() => decodeBody(Buffer.of(1, 0, 0, 0, 0, 200, 0, 0, 0, 0x7b))).toThrow("overruns");
    expect(() => decodeBody(Buffer.of(1, 0, 0, 0, 0, 1, 0, 0, 0, 0x7b))).toThrow(SyntaxError);
  });
});
