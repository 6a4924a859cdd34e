import { expect, test } from "vitest";
import { readFreeCounts, freeAddressesOf } from "./free-addresses.ts";

const counts = (free: string, total = "1000000") => readFreeCounts([{ family: "IPv4", total, inBlocks: "0", free }]);
const of = (free: string, percent?: number) => freeAddressesOf({ freeCounts: counts(free), blockSize: 64 }, 4, percent);

test("an entry that cannot be read says nothing", () => {
  const entries = [null, "IPv4", { family: "IPv5", total: "1", free: "1" }, { family: "IPv4", total: "1", free: "-1" }];
  expect(readFreeCounts(entries)).toEqual([]);
  expect(
    readFreeCounts([
      { family: "IPv4", total: "1", free: "1".repeat(40) },
      { family: "IPv6", total: 1, free: "1" },
    ]),
  ).toEqual([]);
  expect([readFreeCounts("10"), readFreeCounts(undefined)]).toEqual([[], []]);
  expect(freeAddressesOf({ freeCounts: [], blockSize: 64 }, 4)).toBe("unknown");
  expect(freeAddressesOf({ freeCounts: counts("1000000"), blockSize: 64 }, 6)).toBe("unknown");
});

test("a pool has plenty of addresses beyond the blocks that nodes may have claimed since the count", () => {
  expect([of("0"), of("1"), of("2048"), of("2049")]).toEqual(["none", "unknown", "unknown", "plenty"]);
});

test("a share is free beyond, and not free below, the blocks that may have been claimed or given back since the count", () => {
  const at = [0, 247_951, 247_952, 250_000, 252_048, 252_049].map((free) => of(String(free), 25));
  expect(at).toEqual(["none", "none", "unknown", "unknown", "unknown", "plenty"]);
});

test("IPv6 counts are larger than a number holds", () => {
  const wide = readFreeCounts([{ family: "IPv6", total: String(2n ** 64n), free: String(2n ** 63n) }]);
  expect([
    freeAddressesOf({ freeCounts: wide, blockSize: 4096 }, 6, 25),
    freeAddressesOf({ freeCounts: wide, blockSize: 4096 }, 6, 50),
  ]).toEqual(["plenty", "unknown"]);
});
