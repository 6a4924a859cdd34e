import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { FrameReader } from "./frame-reader.ts";
import { encodeFrame } from "./frames.ts";

test("frames of all sizes are read completely and in order, with their raw bytes", () => {
  const directory = mkdtempSync(join(tmpdir(), "plexus-frames-"));
  const path = join(directory, "frames");
  const sizes = [0, 10, 300, 65_000, 70_000, 5, 200_000, 64 * 1024 - 30, 1];
  const texts = sizes.map((size, index) => String(index).repeat(size).slice(0, size));
  writeFileSync(path, Buffer.concat(texts.map((text, index) => encodeFrame(2, index, { text }, [Buffer.from(text)]))));
  const file = openSync(path, "r");
  try {
    const reader = new FrameReader(file, () => {
      throw new Error("the end");
    });
    const frames = texts.map(() => reader.next());
    expect(frames.map(({ call }) => call)).toEqual(texts.map((_, index) => index));
    expect(frames.map(({ json }) => json)).toEqual(texts.map((text) => ({ text })));
    expect(frames.map(({ raw }) => raw.toString())).toEqual(texts);
    expect(() => reader.next()).toThrow("the end");
  } finally {
    closeSync(file);
    rmSync(directory, { recursive: true });
  }
});
