import { describe, expect, test } from "vitest";
import { readAddress } from "../../../src/net/ip.ts";
import { type AddressPool, readAddressPool } from "./address-pool.ts";
import { blockAt } from "./pool-blocks.ts";
import { differs, poolStatus, type PoolStatusInput } from "./pool-status.ts";
import { staticSpans, usageOf } from "./pool-usage.ts";
import { formatSpan } from "./spans.ts";

function poolOf(spec: object): AddressPool {
  const read = readAddressPool({ metadata: { name: "p", uid: "u", resourceVersion: "1" }, spec });
  if (!read.ok) throw new Error(read.problem);
  return read.value;
}

function block(pool: AddressPool, index: number, isOrphaned = false) {
  const span = blockAt(pool, index)?.span;
  if (span === undefined) throw new Error(`no block ${index}`);
  return { index, span, isOrphaned };
}

function reasons(from: PoolStatusInput): string {
  return poolStatus(from)
    .conditions.map(({ type, status, reason }) => `${type}=${status} ${reason}`)
    .join(", ");
}

describe("the use of a pool", () => {
  const pool = poolOf({
    ranges: [{ subnet: "10.0.0.0/24", static: ["10.0.0.192/26", "10.0.0.250"] }, { subnet: "fd00::/64" }],
    exclude: ["10.0.0.2", "10.0.0.200"],
    blockSize: 64,
  });

  test("counts what blocks hand out, without gateway, exclusions and static addresses", () => {
    const use = usageOf(pool, [block(pool, 0), block(pool, 1, true)], []);
    // 10.0.0.1 is the gateway; 10.0.0.2 and 10.0.0.200 are excluded; the last /26 is static, also 10.0.0.255.
    expect(use.families[0]).toEqual({ family: 4, total: 189n, inBlocks: 61n + 64n, free: 64n });
    expect(use.blocks).toEqual({ claimed: 2, orphaned: 1, foreign: 0 });
    expect(use.families[1]).toMatchObject({ family: 6, total: 2n ** 30n - 2n, inBlocks: 0n });
  });

  test("static addresses count once, without exclusions", () => {
    const address = readAddress("10.0.0.193");
    expect(staticSpans(pool).map(formatSpan)).toEqual(["10.0.0.192-10.0.0.199", "10.0.0.201-10.0.0.254"]);
    expect(usageOf(pool, [], address === undefined ? [] : [{ address }]).statics).toEqual({ total: 62n, reserved: 1 });
  });

  test("a block whose addresses are not the pool's is foreign, and takes nothing", () => {
    const strange = { ...block(pool, 1), index: 2 };
    expect(usageOf(pool, [strange, { ...strange, index: 9_999_999 }], [])).toMatchObject({
      blocks: { claimed: 2, foreign: 2 },
      families: [{ inBlocks: 0n }, {}],
    });
  });
});

describe("the status of a pool", () => {
  const small = poolOf({ ranges: [{ subnet: "10.0.0.0/25" }] });
  const input = (blocks: readonly ReturnType<typeof block>[], more: Partial<PoolStatusInput> = {}): PoolStatusInput => ({
    generation: 1,
    conditions: [],
    problem: undefined,
    isDeleted: false,
    acceptance: { acceptedRanges: 1, overlap: undefined },
    usage: usageOf(small, blocks, []),
    now: "2026-01-01T00:00:00Z",
    ...more,
  });
  test("says Full when every address is in a block", () => {
    expect(reasons(input([block(small, 0)]))).toBe("Ready=True Ready, Full=False FreeAddresses, Overlapping=False NoOverlap");
    expect(reasons(input([block(small, 0), block(small, 1)]))).toContain("Full=True NoFreeAddress");
  });

  test("is not Ready while the pool is deleted, invalid, or has no accepted range", () => {
    const overlap = { acceptedRanges: 0, overlap: "spec.ranges[0] overlaps" };
    expect(reasons(input([], { isDeleted: true }))).toContain("Ready=False Deleting");
    expect(reasons(input([], { problem: "spec.ranges is missing" }))).toContain("Ready=False Invalid");
    expect(reasons(input([], { acceptance: overlap }))).toContain(
      "Ready=False Overlapping, Full=False FreeAddresses, Overlapping=True",
    );
  });

  test("keeps conditions of others and the time of a condition that stays", () => {
    const foreign = {
      type: "Audited",
      status: "True",
      reason: "R",
      message: "",
      lastTransitionTime: "t",
      observedGeneration: 0,
    } as const;
    const before = poolStatus(input([], { conditions: [foreign] }));
    const after = poolStatus(input([], { conditions: before.conditions, now: "2027-01-01T00:00:00Z" }));
    expect(after.conditions.map(({ lastTransitionTime }) => lastTransitionTime)).toEqual([...Array(3).fill(input([]).now), "t"]);
    expect(differs(before, after)).toBe(false);
    expect(differs(undefined, after)).toBe(true);
  });
});
