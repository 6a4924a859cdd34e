import { describe, expect, test } from "vitest";
import { formatAddress } from "../../../../src/net/ip.ts";
import { readIpPool, readOverlappingReservation } from "./whereabouts.ts";

const pool = (spec: unknown): unknown => ({ metadata: { namespace: "kube-system", name: "p" }, spec });
const addresses = (read: ReturnType<typeof readIpPool>): readonly string[] =>
  read.held.map(({ address }) => formatAddress(address));

describe("whereabouts' IPPool", () => {
  test("an offset counts from the range's address, and the owner is the pod, the container and the interface", () => {
    const allocations = { "7": { id: "c7", podref: "shop/web-0", ifname: "net1" } };
    const { held, problems } = readIpPool(pool({ range: "10.10.0.0/16", allocations }));
    expect(problems).toEqual([]);
    const owner = { containerId: "c7", ifname: "net1", podNamespace: "shop", podName: "web-0" };
    expect(held).toEqual([{ address: { family: 4, value: 0x0a0a0007n }, owner, source: "IPPool kube-system/p" }]);
  });

  test("an offset of an IPv6 range may have more digits than a number can hold", () => {
    const allocations = { "18446744073709551615": { id: "c", podref: "a/b" } };
    expect(addresses(readIpPool(pool({ range: "fd00::/16", allocations })))).toEqual(["fd00::ffff:ffff:ffff:ffff"]);
  });

  test("allocations of older releases have no interface", () => {
    expect(
      readIpPool(pool({ range: "10.0.0.0/24", allocations: { "1": { id: "c", podref: "a/b" } } })).held[0]?.owner.ifname,
    ).toBe("");
  });

  test.each([
    ["a pool without a specification", undefined, "IPPool kube-system/p: spec is missing"],
    ["a range that is no range", { range: "10.0.0.0" }, '"10.0.0.0", which is no range in CIDR notation'],
    ["a range that is an object", { range: {} }, "spec.range is an object"],
    ["allocations that are a list", { range: "10.0.0.0/24", allocations: [] }, "spec.allocations is an array"],
    ["an offset behind the range", { range: "10.0.0.0/24", allocations: { "256": { id: "c" } } }, 'offset "256" is no address'],
    ["a negative offset", { range: "10.0.0.0/24", allocations: { "-1": { id: "c" } } }, 'offset "-1" is no address'],
    ["an offset in hexadecimal", { range: "10.0.0.0/24", allocations: { "0x1": { id: "c" } } }, 'offset "0x1" is no address'],
    [
      "an offset of a million digits",
      { range: "fd00::/64", allocations: { ["9".repeat(1_000_000)]: { id: "c" } } },
      "is no address",
    ],
    ["an allocation without an owner", { range: "10.0.0.0/24", allocations: { "1": {} } }, "at offset 1 names no owner"],
    ["an owner that is a number", { range: "10.0.0.0/24", allocations: { "1": { id: 5 } } }, "at offset 1 names no owner"],
  ])("%s is a problem that names the pool, and gives no address", (_, spec, expected) => {
    const { held, problems } = readIpPool(pool(spec));
    expect(held).toEqual([]);
    expect(problems.join("\n")).toContain(expected);
    expect(problems.join("\n").length).toBeLessThan(400);
  });

  test("a pool with too many allocations is refused as a whole", () => {
    const allocations = Object.fromEntries(Array.from({ length: 65_537 }, (_, index) => [String(index), { id: "c" }]));
    expect(readIpPool(pool({ range: "fd00::/64", allocations })).problems).toEqual([
      "IPPool kube-system/p has more than 65536 allocations",
    ]);
  });
});

const reservation = (name: string): unknown => ({
  metadata: { namespace: "kube-system", name },
  spec: { containerid: "c", podref: "a/b" },
});

describe("whereabouts' OverlappingRangeIPReservation", () => {
  test.each([
    ["10.1.2.3", "10.1.2.3"],
    ["blue-net-10.1.2.3", "10.1.2.3"],
    ["fd00--1", "fd00::1"],
    ["blue-net-fd00--1", "fd00::1"],
  ])("the name %s is the address %s", (name, address) => {
    const read = readOverlappingReservation(reservation(name));
    expect(addresses(read)).toEqual([address]);
    expect(read.held[0]?.owner).toEqual({ containerId: "c", ifname: "", podNamespace: "a", podName: "b" });
  });

  test("a name without an address is a problem", () => {
    expect(readOverlappingReservation(reservation("blue")).problems).toHaveLength(1);
  });
});
