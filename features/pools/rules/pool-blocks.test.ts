// Blocks of a pool and the order in which a node tries them.

import { array, assert, constantFrom, integer, property, record, string } from "fast-check";
import { describe, expect, test } from "vitest";
import { readAddress } from "../../../src/net/ip.ts";
import { candidates, startOf } from "./next-block.ts";
import { assignableSpans, blockAt, blockNumbers, indexOf } from "./pool-blocks.ts";
import { formatSpan, hasAddress, sizeOf } from "./spans.ts";
import { poolOf } from "./testing/read-pool.ts";
import { cpuMs } from "../../../test/lab/cpu-ms.ts";

const dual = poolOf({
  ranges: [{ subnet: "10.50.0.0/24", first: "10.50.0.70", static: ["10.50.0.128/26"] }, { subnet: "fd00:50::/64" }],
  exclude: ["10.50.0.80", "fd00:50::/65"],
});
const texts = (index: number): readonly string[] => assignableSpans(dual, blockAt(dual, index)?.span ?? never()).map(formatSpan);

function at(text: string): bigint {
  return readAddress(text)?.value ?? never();
}

function never(): never {
  throw new Error("no such block");
}

describe("the blocks of a pool", () => {
  test("are aligned, numbered through the ranges, and without gateways, exclusions and static addresses", () => {
    expect(texts(0)).toEqual(["10.50.0.70-10.50.0.79", "10.50.0.81-10.50.0.127"]);
    expect(texts(1)).toEqual([]);
    expect(texts(2)).toEqual(["10.50.0.192-10.50.0.254"]);
    expect(blockAt(dual, 3)?.span).toMatchObject({ family: 6, first: (0xfd_00_00_50n << 96n) + 1n });
    expect(blockNumbers(dual).map(({ first, count }) => [first, count])).toEqual([
      [0, 3],
      [3, 2 ** 24],
    ]);
    expect([blockAt(dual, 3 + 2 ** 24), blockAt(dual, -1)]).toEqual([undefined, undefined]);
  });

  test("each have their addresses alone, and every address has one block", () => {
    const pools = record({
      prefix: integer({ min: 20, max: 30 }),
      blockSize: constantFrom(1, 2, 4, 16, 64, 4096),
      exclude: array(integer({ min: 0, max: 255 }), { maxLength: 4 }),
    });
    const holds = property(pools, integer({ min: 0, max: 4095 }), ({ prefix, blockSize, exclude }, offset) => {
      const pool = poolOf({
        ranges: [{ subnet: `10.0.0.0/${prefix}` }],
        blockSize,
        exclude: exclude.map((last) => `10.0.0.${last}`),
      });
      const [{ count } = never()] = blockNumbers(pool);
      const spans = Array.from({ length: count }, (_, index) => blockAt(pool, index)?.span ?? never());
      expect(sizeOf(spans)).toBe(2n ** BigInt(32 - prefix) - 2n);
      const address = { family: 4, value: 0x0a_00_00_00n + BigInt(offset) } as const;
      const index = indexOf(pool, address);
      expect(index).toBe(hasAddress(spans, address) ? spans.findIndex((span) => hasAddress([span], address)) : undefined);
    });
    assert(holds, { numRuns: 60 });
  });
});

describe("a node", () => {
  test("tries each block with assignable addresses once, from the place of its name on", () => {
    const pool = poolOf({ ranges: [{ subnet: "10.50.0.0/24", static: ["10.50.0.64/26"] }, { subnet: "10.51.0.0/24" }] });
    const tried = [...candidates(pool, 4, "node-1", new Set([3]))].map(({ index }) => index);
    expect(tried.toSorted((left, right) => left - right)).toEqual([0, 2, 4, 5, 6, 7]);
    expect(tried[0]).toBe([...candidates(pool, 4, "node-1", new Set())][0]?.index);
    expect([...candidates(pool, 6, "node-1", new Set())]).toEqual([]);
  });

  test("passes over a large exclusion at once", () => {
    const started = cpuMs();
    const block = candidates(dual, 6, "node-1", new Set()).next().value;
    const excluded = poolOf({ ranges: [{ subnet: "fd00:50::/64" }], exclude: ["fd00:50::/64"] });
    expect(candidates(excluded, 6, "node-1", new Set()).next().value).toBeUndefined();
    expect(cpuMs() - started).toBeLessThan(1000);
    // All numbered blocks are in the excluded half: 2^24 blocks of 64 addresses are a /98.
    expect(block).toBeUndefined();
  });

  test("finds the few blocks with the wanted addresses among millions at once", () => {
    const large = poolOf({ ranges: [{ subnet: "10.60.0.0/16" }, { subnet: "fd00:60::/64" }], blockSize: 1 });
    const wanted = [
      { family: 6, first: at("fd00:60::5"), last: at("fd00:60::6") },
      { family: 6, first: at("fd00:60::6"), last: at("fd00:60::9") },
      // The last of these two has a number, and the other has none.
      { family: 6, first: at("fd00:60::100:0"), last: at("fd00:60::100:ff") },
      { family: 4, first: at("10.60.1.1"), last: at("10.60.1.1") },
    ] as const;
    const started = cpuMs();
    const tried = [...candidates(large, 6, "node-1", new Set(), wanted)].map(({ span }) =>
      formatSpan({ ...span, last: span.first }),
    );
    expect(cpuMs() - started).toBeLessThan(1000);
    expect(tried.map((text) => text.split("-")[0]).toSorted()).toEqual([
      "fd00:60::100:0",
      ...["5", "6", "7", "8", "9"].map((each) => `fd00:60::${each}`),
    ]);
    expect([...candidates(large, 4, "node-1", new Set(), wanted)]).toHaveLength(1);
  });

  test("begins elsewhere than most other nodes", () => {
    const places = new Set(Array.from({ length: 32 }, (_, node) => startOf("storage", `node-${node}`, 1024)));
    expect(places.size).toBeGreaterThan(28);
    assert(property(string(), integer({ min: 1, max: 2 ** 28 }), (node, count) => startOf("storage", node, count) < count));
  });
});
