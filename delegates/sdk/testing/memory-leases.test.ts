import { expect, test } from "vitest";
import { MemoryLeases } from "./memory-leases.ts";

const owner = (containerId: string) => ({ containerId, ifname: "eth0" });

// test/node/capabilities/leases/disk.test.ts has the same test for the leases of a node.
test("an exact reservation moves the position of the next one, and a refused one does not", () => {
  const { functions: leases } = new MemoryLeases();
  const pool = { set: 0 };
  const ranges = [{ first: "10.1.0.1", last: "10.1.0.4" }];
  const next = (who: string) => leases.reserveNext(pool, ranges, [], owner(who));
  expect(leases.reserve(pool, "10.1.0.3", owner("alice"))).toEqual({ ok: true });
  expect(leases.reserve(pool, "10.1.0.3", owner("bob"))).toEqual({ ok: false });
  expect(next("bob")).toEqual({ ok: { address: "10.1.0.4", heldBefore: false } });
  expect(next("carol")).toEqual({ ok: { address: "10.1.0.1", heldBefore: false } });
});
