// The count of an entry's failed DELs, in the journal and on a full disk.

import { describe, expect, test } from "vitest";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok } from "../../../src/fault/result.ts";
import { partialCall } from "../testing/partial-call.ts";
import { countedFailures } from "./converge.ts";

const full = failed(fault("STORE_FAILED", "no space left on device"));
const key = (containerId: string) => ({ containerId, network: "pods", ifname: "eth0" });
const callOf = (cniDir: string) => partialCall({ configuration: { cniDir } });
const at = (second: number) => new Date(second * 1000);
const never = { count: 0, since: undefined };

describe("failures of an entry", () => {
  test("the journal's count and start are carried on", () => {
    const noted = { count: 3, since: "2026-01-01T00:00:00.000Z" };
    expect(countedFailures(callOf("/a"), key("noted"), noted, at(9), ok(undefined))).toEqual({ count: 4, since: noted.since });
  });

  test("failures that the journal could not note are counted from the first one", () => {
    const call = callOf("/b");
    for (const second of [1, 2, 3]) {
      expect(countedFailures(call, key("full"), never, at(second), full)).toEqual({ count: second, since: at(1).toISOString() });
    }
    expect(countedFailures(call, key("full"), never, at(4), ok(undefined))).toEqual({ count: 4, since: at(1).toISOString() });
  });

  test("each attachment of each state directory has a count of its own", () => {
    countedFailures(callOf("/c"), key("one"), never, at(1), full);
    for (const [call, other] of [
      [callOf("/d"), key("one")],
      [callOf("/c"), key("two")],
      [callOf("/c"), { ...key("one"), network: "other" }],
      [callOf("/c"), { ...key("one"), ifname: "eth1" }],
    ] as const)
      expect(countedFailures(call, other, never, at(5), ok(undefined))).toEqual({ count: 1, since: at(5).toISOString() });
  });

  test("beyond 4,096 entries the oldest count begins anew, and one that failed again is not the oldest", () => {
    const call = callOf("/e");
    countedFailures(call, key("old"), never, at(1), full);
    countedFailures(call, key("again"), never, at(1), full);
    for (let number = 0; number < 4094; number++) countedFailures(call, key(`c${number}`), never, at(1), full);
    countedFailures(call, key("again"), never, at(1), full);
    // Counts of other tests may be older than "old", so as many more entries as they are push them out first.
    for (let number = 0; number < 16; number++) countedFailures(call, key(`more${number}`), never, at(1), full);
    expect(countedFailures(call, key("old"), never, at(2), ok(undefined)).count).toBe(1);
    expect(countedFailures(call, key("again"), never, at(2), ok(undefined)).count).toBe(3);
  });
});
