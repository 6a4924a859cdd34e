import { BlockList, isIP } from "node:net";
import * as fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { compareAddresses, formatAddress, formatCidr, networkOf, readAddress, readCidr } from "../../../src/net/ip.ts";
import { loadGuest, type Guest } from "./load-guest.ts";

let guest: Guest;
beforeAll(async () => {
  guest = await loadGuest("probe.ts");
});

const bits = fc.oneof(
  fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }),
  fc.constantFrom(0n, 1n, (1n << 64n) - 1n, 1n << 64n, (1n << 128n) - 1n),
);
const v6 = fc.oneof(
  bits.map((value) => formatAddress({ family: 6, value })),
  fc
    .array(fc.constantFrom("0", "0000", "1", "ffff", "AbCd", ""), { minLength: 1, maxLength: 9 })
    .map((groups) => groups.join(":")),
  fc.ipV6(),
);
const v4 = fc.oneof(
  fc.ipV4(),
  fc.tuple(fc.nat(300), fc.nat(300), fc.nat(9), fc.nat(300)).map((fields) => fields.join(".")),
);
const address = fc.oneof(
  v4,
  v6,
  v4.map((text) => `::ffff:${text}`),
  v4.map((text) => `64:ff9b::${text}`),
);

describe("addresses", () => {
  const table: [text: string, expected: string][] = [
    ["10.0.0.1", "10.0.0.1 10.0.0.2 10.0.0.0 4"],
    ["0.0.0.0", "0.0.0.0 0.0.0.1 none 4"],
    ["255.255.255.255", "255.255.255.255 none 255.255.255.254 4"],
    ["10.255.255.255", "10.255.255.255 11.0.0.0 10.255.255.254 4"],
    ["::", ":: ::1 none 6"],
    [
      "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
      "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff none ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe 6",
    ],
    ["2001:db8::ffff:ffff:ffff:ffff", "2001:db8::ffff:ffff:ffff:ffff 2001:db8:0:1:: 2001:db8::ffff:ffff:ffff:fffe 6"],
    ["2001:0DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1 2001:db8::1:0:0:2 2001:db8:0:0:1:: 6"],
    ["::ffff:1.2.3.4", "1.2.3.4 1.2.3.5 1.2.3.3 4"],
    ["1::", "1:: 1::1 0:ffff:ffff:ffff:ffff:ffff:ffff:ffff 6"],
    ["1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0 1:2:3:4:5:6:7:1 1:2:3:4:5:6:6:ffff 6"],
  ];
  test.each(table)("%s is read, printed and stepped like Go's net.IP", (text, expected) => {
    expect(guest.text("ip", text)).toBe(expected);
  });

  const malformed = [
    "",
    ".",
    "1.2.3",
    "1.2.3.4.5",
    "01.2.3.4",
    "1.2.3.256",
    "1..3.4",
    "1.2.3.4 ",
    " 1.2.3.4",
    "+1.2.3.4",
    "0x1.2.3.4",
    ":",
    ":::",
  ];
  const malformed6 = [
    "1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:8:9",
    "1::2::3",
    "12345::",
    "::g",
    "fe80::1%eth0",
    "1:2:3:4:5:6:7:1.2.3.4",
    "::1.2.3",
    "1:",
    ":1",
    "1:2:3:4:5:6:7:8::",
    "::ffff:01.2.3.4",
  ];
  test.each([...malformed, ...malformed6])("%j is refused", (text) => {
    expect(guest.text("ip", text)).toBe("none");
  });

  test("every text is read like by src/net and node:net", () => {
    fc.assert(
      fc.property(fc.oneof(address, fc.string({ maxLength: 20 })), (text) => {
        const expected = readAddress(text);
        const found = guest.text("ip", text);
        expect(found.split(" ")[0]).toBe(expected === undefined ? "none" : formatAddress(expected));
        expect(found === "none" || isIP(text) !== 0).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  test("printed text is read and printed unchanged", () => {
    const printable = address.filter((text) => readAddress(text) !== undefined);
    fc.assert(
      fc.property(printable, (text) => {
        const printed = guest.text("ip", text);
        expect(guest.text("ip", printed.split(" ")[0] ?? "")).toBe(printed);
      }),
    );
  });

  test("addresses have the order of src/net", () => {
    fc.assert(
      fc.property(address, address, (a, b) => {
        const left = readAddress(a);
        const right = readAddress(b);
        if (left === undefined || right === undefined) return;
        expect(Math.sign(Number(guest.text("compare", a, b)))).toBe(Math.sign(compareAddresses(left, right)));
      }),
      { numRuns: 1000 },
    );
  });
});

describe("networks", () => {
  const prefixed = fc.tuple(address, fc.nat(129)).map(([text, prefix]) => `${text}/${prefix}`);

  test("network and last address equal those of src/net for every prefix", () => {
    fc.assert(
      fc.property(fc.oneof(prefixed, fc.string({ maxLength: 12 })), (text) => {
        const cidr = readCidr(text);
        const range = cidr === undefined ? undefined : networkOf(cidr);
        const expected =
          cidr === undefined || range === undefined
            ? "none"
            : `${formatCidr(cidr)} ${formatAddress(range.first)} ${formatAddress(range.last)}`;
        expect(guest.text("cidr", text)).toBe(expected);
      }),
      { numRuns: 2000 },
    );
  });

  test("a network contains the same addresses as node's BlockList", () => {
    fc.assert(
      fc.property(fc.boolean(), bits, fc.nat(128), bits, fc.nat(128), (four, base, length, other, shared) => {
        const family = four ? 4 : 6;
        const width = four ? 32n : 128n;
        const prefix = four ? length % 33 : length;
        const keep = BigInt(Math.min(shared, Number(width)));
        const a = BigInt.asUintN(Number(width), base);
        // Shares some leading bits with the network, so that both answers occur.
        const b = ((a >> (width - keep)) << (width - keep)) | BigInt.asUintN(Number(width - keep), other);
        const network = formatAddress({ family, value: a });
        const ip = formatAddress({ family, value: b });
        if (readAddress(network)?.family !== family || readAddress(ip)?.family !== family) return;
        const list = new BlockList();
        list.addSubnet(network, prefix, four ? "ipv4" : "ipv6");
        expect(guest.text("contains", `${network}/${prefix}`, ip)).toBe(String(list.check(ip, four ? "ipv4" : "ipv6")));
      }),
      { numRuns: 1000 },
    );
  });

  test("leading zeros of a prefix are read like by Go's net.ParseCIDR", () => {
    expect(guest.text("cidr", "10.0.0.1/08")).toBe("10.0.0.1/8 10.0.0.0 10.255.255.255");
  });

  test("networks overlap if one contains the other's address, and never across families", () => {
    expect(guest.text("overlaps", "10.0.0.0/8", "10.1.0.0/16")).toBe("true");
    expect(guest.text("overlaps", "10.1.0.0/16", "10.0.0.0/8")).toBe("true");
    expect(guest.text("overlaps", "10.0.0.0/9", "10.128.0.0/9")).toBe("false");
    expect(guest.text("overlaps", "0.0.0.0/0", "::/0")).toBe("false");
  });
});
