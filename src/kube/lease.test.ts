import { expect, test } from "vitest";
import { judgeLease, leaseObject, readLease, releasedLease, renewedLease } from "./lease.ts";

const now = "2026-11-24T06:00:00.123Z";
const later = "2026-11-24T06:00:05.000Z";
const first = renewedLease(undefined, { identity: "a", durationSeconds: 15, now });

test("a new lease belongs to its maker, and a renewal keeps the time of its acquisition", () => {
  expect(first).toEqual({ holder: "a", durationSeconds: 15, transitions: 0, renewTime: now, acquireTime: now });
  const renewed = renewedLease(first, { identity: "a", durationSeconds: 15, now: later });
  expect(renewed).toEqual({ ...first, renewTime: later });
});

test("a lease that another candidate takes counts a transition", () => {
  expect(renewedLease(first, { identity: "b", durationSeconds: 15, now: later })).toMatchObject({
    holder: "b",
    transitions: 1,
    acquireTime: later,
  });
});

test("a lease is held until the candidate has seen no renewal for its duration", () => {
  expect(judgeLease(first, "a", 60_000)).toBe("ours");
  expect(judgeLease(first, "b", 15_000)).toBe("held");
  expect(judgeLease(first, "b", 15_001)).toBe("free");
});

test("a released lease is free at once", () => {
  expect(judgeLease(releasedLease(first, later), "b", 0)).toBe("free");
});

test("an object is read as it was written, with times of six digits", () => {
  const object = leaseObject({ namespace: "kube-system", name: "plexus-controller" }, first, "7");
  expect(object).toMatchObject({ metadata: { resourceVersion: "7" }, spec: { renewTime: "2026-11-24T06:00:00.123000Z" } });
  expect(readLease(object)).toEqual({
    ...first,
    renewTime: "2026-11-24T06:00:00.123000Z",
    acquireTime: "2026-11-24T06:00:00.123000Z",
    resourceVersion: "7",
  });
});

test.each([null, [], {}, { metadata: {} }, { metadata: { resourceVersion: 7 } }])("%j is not a lease", (object) => {
  expect(readLease(object)).toBeUndefined();
});

test("a lease with members of a wrong type is free", () => {
  const read = readLease({ metadata: { resourceVersion: "1" }, spec: { holderIdentity: 5, leaseDurationSeconds: "x" } });
  expect(read).toMatchObject({ holder: "", durationSeconds: 0 });
});
