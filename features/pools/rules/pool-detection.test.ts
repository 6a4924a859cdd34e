import { expect, test } from "vitest";
import { readDetection } from "./pool-detection.ts";

test.each([
  [{}, {}],
  [{ waitMs: 100 }, { waitMs: 100 }],
  [
    { waitMs: 1_000, probes: 10, detectGateway: true },
    { waitMs: 1_000, probes: 10, detectGateway: true },
  ],
])("conflictDetection of a pool: %j", (value, read) => {
  expect(readDetection(value)).toEqual({ ok: true, value: read });
});

test("a pool without the key, or with null as its value, has none", () => {
  expect([readDetection(undefined), readDetection(null)]).toEqual([
    { ok: true, value: undefined },
    { ok: true, value: undefined },
  ]);
});

test.each([
  [true, "it must be an object"],
  [{ waitMs: 0 }, "spec.conflictDetection.waitMs"],
  [{ waitMs: 10_001 }, "spec.conflictDetection.waitMs"],
  [{ waitMs: 5_001 }, "waitMs times probes is 10002"],
  [{ probes: 11 }, "spec.conflictDetection.probes"],
  [{ probes: "2" }, "spec.conflictDetection.probes"],
  [{ detectGateway: "yes" }, "must be true or false"],
])("conflictDetection of a pool is unreadable: %j", (value, why) => {
  expect(readDetection(value)).toMatchObject({ problem: expect.stringContaining(why) });
});
