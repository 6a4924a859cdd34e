import { describe, expect, test } from "vitest";
import { readAddressPool } from "./address-pool.ts";
import { acceptRanges, type PoolForAcceptance } from "./pool-acceptance.ts";

function pool(name: string, created: string, subnets: readonly string[], acceptedRanges = 0): PoolForAcceptance {
  const ranges = subnets.map((subnet) => ({ subnet }));
  const read = readAddressPool({ metadata: { name, uid: name, resourceVersion: "1" }, spec: { ranges } });
  if (!read.ok) throw new Error(read.problem);
  return { name, uid: name, created, ranges: read.value.ranges, acceptedRanges };
}

describe("the acceptance of ranges", () => {
  test("all ranges of a pool that overlaps with none are accepted", () => {
    const other = pool("other", "1", ["10.1.0.0/16", "fd01::/64"], 2);
    expect(acceptRanges(pool("p", "2", ["10.0.0.0/16", "fd00::/64"]), [other])).toEqual({
      acceptedRanges: 2,
      overlap: undefined,
    });
  });

  test("of two new pools the older one is accepted, whichever comes first", () => {
    const [older, younger] = [pool("b", "1", ["10.0.0.0/8"]), pool("a", "2", ["10.0.0.0/24"])];
    expect(acceptRanges(older, [younger])).toMatchObject({ acceptedRanges: 1, overlap: undefined });
    expect(acceptRanges(younger, [older])).toEqual({
      acceptedRanges: 0,
      overlap: "spec.ranges[0].subnet 10.0.0.0/24 overlaps with 10.0.0.0/8 of AddressPool b",
    });
  });

  test("of two pools of one second exactly one is accepted", () => {
    const [one, other] = [pool("a", "1", ["10.0.0.0/24"]), pool("b", "1", ["10.0.0.0/24"])];
    expect([acceptRanges(one, [other]), acceptRanges(other, [one])].map(({ acceptedRanges }) => acceptedRanges)).toEqual([1, 0]);
  });

  test("a range that an older pool appends over an accepted one is refused: nodes may use its addresses", () => {
    const accepted = pool("young", "2", ["10.0.0.0/24"], 1);
    const grown = pool("old", "1", ["10.9.0.0/24", "10.0.0.0/16", "10.8.0.0/24"], 1);
    expect(acceptRanges(grown, [accepted])).toMatchObject({ acceptedRanges: 1, overlap: expect.stringContaining("ranges[1]") });
    // The accepted range stays accepted, whatever the older pool asks for.
    expect(acceptRanges(accepted, [grown])).toEqual({ acceptedRanges: 1, overlap: undefined });
  });

  test("an accepted range stays accepted even if it overlaps", () => {
    const [one, other] = [pool("a", "1", ["10.0.0.0/24"], 1), pool("b", "2", ["10.0.0.0/24"], 1)];
    expect(acceptRanges(other, [one])).toMatchObject({ acceptedRanges: 1, overlap: expect.stringContaining("AddressPool a") });
  });
});
