// Reading pools and blocks from objects that nobody has validated.

import { describe, expect, test } from "vitest";
import { addressBlockObject, readAddressBlock } from "./address-block.ts";
import { claimObstacle, readAddressPool } from "./address-pool.ts";
import { poolOf } from "./testing/read-pool.ts";

const metadata = { name: "storage", uid: "u", resourceVersion: "1" };
const ranges = [{ subnet: "10.50.0.0/24" }];

describe("a pool", () => {
  test("leaves out the network, the gateway's default and the broadcast address", () => {
    const [range] = poolOf({ ranges }).ranges;
    expect(range).toMatchObject({
      span: { family: 4, first: 0x0a_32_00_01n, last: 0x0a_32_00_fen },
      gateway: { value: 0x0a_32_00_01n },
    });
  });

  test.each([
    ["no metadata", {}, "metadata is missing"],
    ["a name that no pool can have", { metadata: { ...metadata, name: "a/b" }, spec: { ranges } }, "is not a pool's name"],
    ["no ranges", { metadata, spec: {} }, "spec.ranges is missing"],
    ["too many ranges", { metadata, spec: { ranges: Array.from({ length: 17 }, () => ranges[0]) } }, "17 ranges"],
    ["host bits", { metadata, spec: { ranges: [{ subnet: "10.0.0.1/24" }] } }, "host bits"],
    [
      "a range that ends before it begins",
      { metadata, spec: { ranges: [{ ...ranges[0], first: "10.50.0.9", last: "10.50.0.8" }] } },
      "comes after",
    ],
    [
      "an address of another subnet",
      { metadata, spec: { ranges: [{ ...ranges[0], first: "10.51.0.9" }] } },
      "is not in 10.50.0.0/24",
    ],
    [
      "static addresses of another subnet",
      { metadata, spec: { ranges: [{ ...ranges[0], static: ["10.50.0.0/23"] }] } },
      "is not within",
    ],
    ["overlapping ranges", { metadata, spec: { ranges: [{ subnet: "10.50.0.0/16" }, ranges[0]] } }, "overlaps with 10.50.0.0/16"],
    ["a block size that is no power of two", { metadata, spec: { ranges, blockSize: 48 } }, "power of two"],
    ["a huge block", { metadata, spec: { ranges, blockSize: 2 ** 20 } }, "from 1 to 4096"],
    ["an exclusion that is no text", { metadata, spec: { ranges, exclude: [7] } }, "spec.exclude[0]"],
    ["a time that is too short for the daemons", { metadata, spec: { ranges, freeAfterSeconds: 1 } }, "from 60 to 604800"],
  ])("with %s is not read", (_, object, problem) => {
    expect(readAddressPool(object)).toMatchObject({ ok: false, problem: expect.stringContaining(problem) });
  });

  test("that nobody keeps, that is being deleted or that overlaps with another one gets no blocks", () => {
    expect(claimObstacle(poolOf({ ranges }))).toContain("has no finalizer plexus.dev/blocks yet");
    const kept = { ...poolOf({ ranges }), finalizers: ["plexus.dev/blocks"] };
    expect(claimObstacle(kept)).toBeUndefined();
    expect(claimObstacle({ ...kept, isDeleted: true })).toBe("is being deleted");
    const status = { conditions: [{ type: "Overlapping", status: "True" }, null, { type: 7 }] };
    expect(claimObstacle({ ...poolOf({ ranges }, { status }), finalizers: kept.finalizers })).toContain("another pool");
  });
});

describe("a block", () => {
  const span = { family: 6, first: 0xfd00n << 112n, last: (0xfd00n << 112n) + 63n } as const;
  const claim = { pool: "a-1", index: 2, span, node: "n1", holder: "h", freeAfterSeconds: 60 };
  const object = { ...addressBlockObject(claim), status: {} };
  const stored = { ...object, metadata: { ...metadata, name: "a-1-2" } };

  test("is read as it was written", () => {
    expect(readAddressBlock(stored)).toMatchObject({ ok: true, value: { ...claim, isOrphaned: false } });
  });

  test("with a mark of any kind counts as orphaned", () => {
    for (const orphanedSince of ["2026-01-01T00:00:00Z", "", 7, {}]) {
      expect(readAddressBlock({ ...stored, status: { orphanedSince } })).toMatchObject({ value: { isOrphaned: true } });
    }
  });

  test("with another name, mixed families or too many addresses is not read", () => {
    const spec = { ...(object as unknown as { spec: object }).spec };
    expect(readAddressBlock({ ...stored, metadata })).toMatchObject({ ok: false });
    expect(readAddressBlock({ ...stored, spec: { ...spec, last: "10.0.0.1" } })).toMatchObject({ ok: false });
    expect(readAddressBlock({ ...stored, spec: { ...spec, last: "fd00::2:0" } })).toMatchObject({ ok: false });
    expect(readAddressBlock({ ...stored, spec: { ...spec, index: -1 } })).toMatchObject({ ok: false });
  });
});
