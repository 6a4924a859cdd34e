import { isIPv4, isIPv6 } from "node:net";

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";

import {
  cidrContains,
  compareAddresses,
  formatAddress,
  formatCidr,
  type IpAddress,
  networkOf,
  readAddress,
  readCidr,
} from "./ip.ts";

const address = fc.oneof(
  fc.bigInt({ min: 0n, max: (1n << 32n) - 1n }).map((value): IpAddress => ({ family: 4, value })),
  fc
    .oneof(
      fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }),
      // Groups of zeros, for the shortening.
      fc
        .array(fc.constantFrom(0n, 0n, 0n, 1n, 0xffffn), { minLength: 8, maxLength: 8 })
        .map((groups) => groups.reduce<bigint>((value, group) => (value << 16n) | group, 0n)),
    )
    .filter((value) => value >> 32n !== 0xffffn)
    .map((value): IpAddress => ({ family: 6, value })),
);

describe("reading and printing", () => {
  test.each([
    ["0.0.0.0", "0.0.0.0"],
    ["255.255.255.255", "255.255.255.255"],
    ["::", "::"],
    ["::1", "::1"],
    ["1::", "1::"],
    ["2001:DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1"],
    ["2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"],
    ["1:0:0:2:0:0:0:3", "1:0:0:2::3"],
    ["1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"],
    ["::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"],
    ["1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304"],
    ["::1.2.3.4", "::102:304"],
    ["64:ff9b::192.0.2.33", "64:ff9b::c000:221"],
  ])("%s prints as %s", (text, printed) => {
    const read = readAddress(text);
    expect(read && formatAddress(read)).toBe(printed);
  });

  test.each(["::ffff:10.1.2.3", "::FFFF:a01:203", "0:0:0:0:0:ffff:10.1.2.3"])("L-57: v4-mapped %s prints as v4", (text) => {
    const read = readAddress(text);
    expect(read).toEqual({ family: 4, value: 0x0a01_0203n });
    expect(read && formatAddress(read)).toBe("10.1.2.3");
  });

  test.each([
    "",
    ".",
    "1.2.3",
    "1.2.3.4.5",
    "01.2.3.4",
    "1.2.3.256",
    "1.2.3.-4",
    "1.2.3.4 ",
    " 1.2.3.4",
    "1..3.4",
    "0x1.2.3.4",
    "１.2.3.4",
    ":",
    ":::",
    "1:",
    ":1",
    "1::2::3",
    "1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:8:9",
    "1:2:3:4:5:6:7:8::",
    "::1:2:3:4:5:6:7:8",
    "12345::",
    "g::",
    "fe80::1%eth0",
    "::1.2.3",
    "1:2:3:4:5:6:7:1.2.3.4",
    "::ffff:1.2.3.4:5",
    "1.2.3.4\n",
    "[::1]",
    `${"0:".repeat(100)}1`,
  ])("%j is not an address", (text) => {
    expect(readAddress(text)).toBeUndefined();
  });

  test("reading a printed address gives the same address, and the text is canonical", () => {
    fc.assert(
      fc.property(address, (value) => {
        const text = formatAddress(value);
        expect(readAddress(text)).toEqual(value);
        // The URL standard prints v6 as RFC 5952 does.
        const inUrl = value.family === 6 ? `[${text}]` : text;
        expect(new URL(`http://${inUrl}/`).hostname).toBe(inUrl);
      }),
      { numRuns: 500 },
    );
  });

  test("accepts exactly the texts that Node's net accepts", () => {
    const text = fc.oneof(
      fc.stringMatching(/^[0-9a-f:.]{0,20}$/),
      fc
        .array(fc.constantFrom("0", "1", "ffff", "::", ":", "::", ":", "1.2.3.4", ".", "256"), { maxLength: 14 })
        .map((parts) => parts.join("")),
      address.map(formatAddress),
    );
    fc.assert(
      fc.property(text, (candidate) => {
        expect(readAddress(candidate) !== undefined).toBe(isIPv4(candidate) || isIPv6(candidate));
      }),
      { numRuns: 2000 },
    );
  });
});

describe("prefixes", () => {
  test("L-57: a prefix keeps its host bits", () => {
    const read = readCidr("10.1.2.3/24");
    expect(read && formatCidr(read)).toBe("10.1.2.3/24");
  });

  test("L-57: the prefix length of a v4-mapped address counts from the v4 part, as Go prints it", () => {
    expect(readCidr("::ffff:10.0.0.1/120")).toEqual({ address: { family: 4, value: 0x0a00_0001n }, prefix: 24 });
    expect(readCidr("::ffff:10.0.0.1/64")).toBeUndefined();
  });

  test.each([
    "10.0.0.1",
    "10.0.0.1/",
    "10.0.0.1/33",
    "10.0.0.1/-1",
    "10.0.0.1/024",
    "10.0.0.1/2 4",
    "::1/129",
    "/24",
    "10.0.0.1/24/8",
    "10.0.0.1/1e1",
  ])("%s is not a prefix", (text) => {
    expect(readCidr(text)).toBeUndefined();
  });

  test("a network contains its first and last address, and not the neighbours", () => {
    fc.assert(
      fc.property(address, fc.nat(), (value, bits) => {
        const cidr = { address: value, prefix: bits % (value.family === 4 ? 33 : 129) };
        const { first, last } = networkOf(cidr);
        expect([first, value, last].every((each) => cidrContains(cidr, each))).toBe(true);
        expect(compareAddresses(first, value) <= 0 && compareAddresses(value, last) <= 0).toBe(true);
        expect(cidrContains(cidr, { ...first, value: first.value - 1n })).toBe(false);
        expect(cidrContains(cidr, { ...last, value: last.value + 1n })).toBe(false);
      }),
      { numRuns: 300 },
    );
  });

  test("families do not mix: v4 sorts first, and a v6 network contains no v4 address", () => {
    const four: IpAddress = { family: 4, value: 5n };
    const six: IpAddress = { family: 6, value: 1n };
    expect(compareAddresses(four, six)).toBeLessThan(0);
    expect(compareAddresses(six, four)).toBeGreaterThan(0);
    expect(compareAddresses(six, six)).toBe(0);
    expect(cidrContains({ address: six, prefix: 0 }, four)).toBe(false);
  });
});
