import { expect, it } from "vitest";
import { MemoryPool } from "./memory-pool.ts";

const pageBytes = 65_536;

it("reuses a memory, filled with zeros", () => {
  const pool = new MemoryPool({ initial: 1, maximum: 4 });
  const first = pool.take();
  new Uint8Array(first.buffer).fill(0xa5);
  expect(pool.giveBack(first)).toBe(0);
  const second = pool.take();
  expect(second).toBe(first);
  expect(new Uint8Array(second.buffer).every((byte) => byte === 0)).toBe(true);
});

it("never gives one memory to two calls at the same time", () => {
  const pool = new MemoryPool({ initial: 1, maximum: 4 });
  expect(pool.take()).not.toBe(pool.take());
});

it("leaves a grown memory, a large memory and memories beyond the bound to the garbage collector", () => {
  const pool = new MemoryPool({ initial: 1, maximum: 4 });
  const grown = pool.take();
  grown.grow(1);
  expect(pool.giveBack(grown)).toBe(2 * pageBytes);
  expect(pool.take()).not.toBe(grown);
  for (const [initial, kept] of [
    [1, 64],
    [16, 4],
  ] as const) {
    const sized = new MemoryPool({ initial, maximum: 20 });
    const many = Array.from({ length: kept + 1 }, () => sized.take());
    expect(many.filter((memory) => sized.giveBack(memory) === 0).length).toBe(kept);
  }
  const large = new MemoryPool({ initial: 17, maximum: 20 });
  expect(large.giveBack(large.take())).toBe(17 * pageBytes);
});
