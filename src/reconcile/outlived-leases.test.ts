import { expect, test } from "vitest";
import { isOutlived, remedyOf } from "./outlived-leases.ts";

const containerId = "ab".repeat(32);
const boot = { bootId: "new", bootedAt: 1000 };

test("FI-16: a lease is outlived if another boot showed it, it was written before this boot, and a runtime's container has it", () => {
  const lease = { containerId, writtenAt: 999 };
  expect(isOutlived(lease, "old", boot)).toBe(true);
  expect(isOutlived(lease, "new", boot)).toBe(false);
  expect(isOutlived(lease, undefined, boot)).toBe(false);
  // Without a readable boot id, all boots count as the same.
  expect([isOutlived(lease, "", boot), isOutlived(lease, "old", { ...boot, bootId: "" })]).toEqual([false, false]);
  expect(isOutlived({ ...lease, writtenAt: 1000 }, "old", boot)).toBe(false);
  for (const owner of ["reserved", "", containerId.slice(1), containerId.toUpperCase(), `${containerId}0`])
    expect(isOutlived({ containerId: owner, writtenAt: 999 }, "old", boot)).toBe(false);
});

test("FI-16: the remedy names the owner, with its interface if the lease has one", () => {
  expect([remedyOf({ containerId, ifname: "" }), remedyOf({ containerId: "reserved", ifname: "eth0" })]).toEqual([
    `container ${containerId} has it. If no runtime of this node knows the container, remove the file; the next boot frees it, too`,
    "its owner is reserved, eth0. If nothing needs the address, remove the file",
  ]);
});
