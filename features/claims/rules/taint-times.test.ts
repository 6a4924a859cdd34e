import { expect, test } from "vitest";
import { taintTimesOf, withTaintTimes } from "./taint-times.ts";

const taint = (effect: string): object => ({ key: "plexus.dev/link-down", effect });
const timed = (effect: string, timeAdded: string): object => ({ ...taint(effect), timeAdded });
const since = "2026-01-01T00:00:00Z";

test("DR-08: a taint keeps the time of the same device, key and effect, and a new one gets its time from the API server", () => {
  const times = taintTimesOf([{ name: "a", taints: [timed("NoExecute", since)] }, { name: "b" }, "no device"]);
  const devices = [
    { name: "a", attributes: {}, taints: [taint("NoExecute")] },
    { name: "b", taints: [taint("NoExecute")] },
    { name: "c" },
  ];
  expect(withTaintTimes(devices, times)).toEqual([
    { name: "a", attributes: {}, taints: [timed("NoExecute", since)] },
    { name: "b", taints: [taint("NoExecute")] },
    { name: "c" },
  ]);
  const [changed] = withTaintTimes([{ name: "a", taints: [taint("NoSchedule")] }], times);
  expect(changed).toEqual({ name: "a", taints: [taint("NoSchedule")] });
});
