import { expect, test } from "vitest";
import { readCidr } from "../../../src/net/ip.ts";
import { kernelBucket } from "./token-bucket.ts";
import { filterInfo } from "./traffic-control.ts";
import { networkSelector } from "./u32-filter.ts";

function keysOf(text: string, side: "source" | "destination"): string {
  const network = readCidr(text);
  if (network === undefined) throw new Error(text);
  return Buffer.from(networkSelector(side, network)).toString("hex").slice(32);
}

test("a bucket has the reference plugin's rounding", () => {
  // The values of `tc -d qdisc show` after the native plugin's ADD.
  expect(kernelBucket({ rate: 8_000_000, burst: 800_000, latency: 25 })).toEqual({
    rate: 1_000_000,
    buffer: 1_562_500,
    limit: 125_000,
  });
  expect(kernelBucket({ rate: 8, burst: 8 * 0xffff_ffff, latency: 25 })).toEqual({
    rate: 1,
    buffer: 0xffff_ffff,
    limit: 0xffff_ffff,
  });
});

test("a selector compares the words of the mask that have ones", () => {
  expect(keysOf("10.1.0.0/16", "destination")).toBe("ffff00000a0100001000000000000000");
  expect(keysOf("10.1.0.0/16", "source")).toBe("ffff00000a0100000c00000000000000");
  expect(keysOf("fd00::/9", "destination")).toBe("ff800000fd0000001800000000000000");
  expect(keysOf("0.0.0.0/0", "source")).toBe("00000000000000000000000000000000");
  expect(keysOf("2001:db8::/40", "source")).toBe("ffffffff20010db80800000000000000ff000000000000000c00000000000000");
});

test("a filter's protocol is in network byte order", () => {
  expect(filterInfo(16, 0x0800)).toBe(0x0010_0008);
});
