import { assert, nat, property } from "fast-check";
import { describe, expect, it } from "vitest";
import { leb } from "../../test/hostile/components/sections.ts";
import { Reader } from "./reader.ts";

const of = (...bytes: number[]) => new Reader(Uint8Array.from(bytes));

describe("the binary reader", () => {
  it("reads every unsigned 32-bit LEB128 number", () => {
    assert(property(nat(0xffff_ffff), (value) => of(...leb(value)).u32("n") === value));
    expect(of(0x80, 0x80, 0x80, 0x80, 0x00).u32("n")).toBe(0);
    expect(of(0xff, 0xff, 0xff, 0xff, 0x0f).u32("n")).toBe(0xffff_ffff);
  });

  it("refuses numbers of more than 32 bits or five bytes", () => {
    expect(() => of(0xff, 0xff, 0xff, 0xff, 0x10).u32("n")).toThrow("not a 32-bit number");
    expect(() => of(0x80, 0x80, 0x80, 0x80, 0x80, 0x00).u32("n")).toThrow("not a 32-bit number");
    expect(() => of(0x80).u32("n")).toThrow("cut short");
  });

  it("refuses a count that the remaining bytes cannot hold", () => {
    expect(() => of(200, 1, 0).count("things")).toThrow("200 things can't fit in the 1 bytes left");
    expect(() => of(3, 0, 0, 0).count("things", 2)).toThrow("too many");
  });

  it("refuses names that are not UTF-8, or too long, and keeps a byte order mark", () => {
    expect(() => of(2, 0xc0, 0x80).name("a name")).toThrow("not UTF-8");
    expect(() => of(200, 2).name("a name", 100)).toThrow("bytes long");
    expect(of(4, 0xef, 0xbb, 0xbf, 0x61).name("a name")).toBe("\uFEFFa");
  });

  it("takes a part that keeps the offsets of the whole", () => {
    const reader = of(9, 1, 2, 3);
    reader.byte("first");
    const part = reader.take(2, "a part");
    expect([part.pos, part.left, reader.pos]).toEqual([1, 2, 3]);
    part.byte("one");
    expect(() => part.finish("the part")).toThrow("1 bytes longer");
    expect(() => reader.take(2, "more")).toThrow("needs 2 bytes, 1 are left");
  });
});
