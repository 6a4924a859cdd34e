import { assert, property, string } from "fast-check";
import { describe, expect, it } from "vitest";
import { Guest } from "./guest.ts";

function guestOf(pages = 4, budget: { input?: number; output?: number } = {}): Guest {
  let next = 64;
  const realloc = (_: number, __: number, align: number, size: number) => {
    next = Math.ceil(next / align) * align;
    next += size;
    return next - size;
  };
  const guest = new Guest(new WebAssembly.Memory({ initial: pages }), realloc, { input: 1 << 20, output: 1 << 20, ...budget });
  guest.refresh();
  return guest;
}

describe("a guest's memory", () => {
  it("stores and loads any text; a lone surrogate becomes U+FFFD", () => {
    assert(
      property(string({ unit: "binary", maxLength: 40 }), (text) => {
        const guest = guestOf();
        guest.storeString(0, text);
        expect(guest.loadString(0)).toBe(text.toWellFormed());
      }),
    );
  });

  it.each(["", "\uFEFFmark", "\0", "\uD800", "x".repeat(65_536), "𝄞".repeat(10_000)])("stores and loads the text %#", (text) => {
    const guest = guestOf();
    guest.storeString(0, text);
    expect(guest.loadString(0)).toBe(text.toWellFormed());
  });

  it("cuts a text between characters, never within one", () => {
    const guest = guestOf();
    guest.storeString(0, "aé𝄞");
    const cut = (maxBytes: number) => guest.liftCutString(guest.u32(0), guest.u32(4), maxBytes).text;
    expect([0, 1, 2, 3, 4, 6, 7, 100].map(cut)).toEqual(["", "a", "a", "aé", "aé", "aé", "aé𝄞", "aé𝄞"]);
  });

  it("charges the same bytes for each use", () => {
    const guest = guestOf(4, { output: 250 });
    guest.storeString(0, "x".repeat(100));
    guest.loadString(0);
    guest.loadString(0);
    expect(() => guest.loadString(0)).toThrow("limit of its output");
  });

  it("charges a list's elements before it loads them", () => {
    const guest = guestOf(4, { output: 1000 });
    let loads = 0;
    expect(() => guest.liftList(0, 10_000, 8, 4, () => (loads += 1))).toThrow("limit of its output");
    expect(loads).toBe(0);
  });

  it("receives no number that its type cannot hold", () => {
    const guest = guestOf();
    for (const value of [-1, 2 ** 32, 1.5, Number.NaN]) expect(() => guest.storeU32(0, value)).toThrow(TypeError);
    guest.storeU32(0, 0xffff_ffff);
    guest.storeS32(4, -0x8000_0000);
    expect([guest.u32(0), guest.s32(4)]).toEqual([0xffff_ffff, -0x8000_0000]);
  });
});
