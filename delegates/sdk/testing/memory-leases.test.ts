import { expect, test } from "vitest";
import { MemoryLeases } from "./memory-leases.ts";

const owner = (containerId: string) => ({ containerId, ifname: "eth0" });

// test/node/capabilities/leases/disk.test.ts has the same test for the leases of a node.
test("an exact reservation moves the position of the next one, and a refused one does not", () => {
  const node = new MemoryLeases();
  const of = (who: string) => node.functions({ verb: "add", attachment: owner(who) });
  const pool = { set: 0 };
  const ranges = [{ first: "10.1.0.1", last: "10.1.0.4" }];
  const next = (who: string) => of(who).reserveNext(pool, ranges, [], owner(who));
  expect(of("alice").reserve(pool, "10.1.0.3", owner("alice"))).toEqual({ ok: true });
  expect(of("bob").reserve(pool, "10.1.0.3", owner("bob"))).toEqual({ ok: false });
  expect(next("bob")).toEqual({ ok: { address: "10.1.0.4", heldBefore: false } });
  expect(next("carol")).toEqual({ ok: { address: "10.1.0.1", heldBefore: false } });
});

test("a call may name its own attachment only, and only a GC may retain, as on a node", () => {
  const leases = new MemoryLeases().functions({ verb: "add", attachment: owner("alice") });
  expect(leases.reserve({ set: 0 }, "10.1.0.3", owner("bob"))).toMatchObject({
    err: { code: 999, msg: `leases: owner "bob/eth0" is not this call's attachment alice/eth0` },
  });
  expect(leases.retain({ set: 0 }, [])).toMatchObject({ err: { msg: "leases: only a GC may retain leases, this call is ADD" } });
});
