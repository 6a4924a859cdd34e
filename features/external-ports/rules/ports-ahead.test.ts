import { describe, expect, test } from "vitest";
import { type FreePort, planAhead, portsInTheWay } from "./ports-ahead.ts";

const port = (id: string, change: Partial<FreePort> = {}): FreePort => ({
  id,
  revision: 3,
  subnet: "s1",
  addresses: [`10.9.0.${id.length}`],
  mark: "now",
  isTagged: true,
  ...change,
});
const pools = [{ subnet: "s1", min: 2, max: 4 }];

describe("ports made ahead", () => {
  test("are filled to the maximum once fewer than the minimum are free", () => {
    expect(planAhead([port("a"), port("b")], pools, "now").missing).toEqual([]);
    expect(planAhead([port("a")], pools, "now").missing).toEqual([{ subnet: "s1", count: 3 }]);
  });

  test("above the maximum are given back, the same ones in every order of the list", () => {
    const free = ["e", "b", "a", "d", "c"].map((id) => port(id));
    for (const list of [free, free.toReversed()]) {
      const plan = planAhead(list, pools, "now");
      expect(plan.surplus.map(({ id }) => id)).toEqual(["e"]);
      expect(plan.usable.get("s1")?.map(({ id }) => id)).toEqual(["a", "b", "c", "d"]);
    }
  });

  test.each([
    ["other settings", { mark: "before" }],
    ["a subnet without a pool", { subnet: "s2" }],
    ["no subnet", { subnet: undefined }],
  ])("with %s are given back and never used", (_, change) => {
    const plan = planAhead([port("a", change), port("b")], pools, "now");
    expect(plan.surplus.map(({ id }) => id)).toEqual(["a"]);
    expect(plan.usable.get("s1")?.map(({ id }) => id)).toEqual(["b"]);
    expect(plan.missing).toEqual([{ subnet: "s1", count: 3 }]);
  });

  test("are all given back when no pool is configured", () => {
    const plan = planAhead([port("a"), port("b")], [], "now");
    expect(plan).toMatchObject({ missing: [], untagged: [], surplus: [{ id: "a" }, { id: "b" }] });
  });

  test("without their tag get it, unless they are given back", () => {
    const plan = planAhead([port("a", { isTagged: false }), port("b", { isTagged: false, mark: "before" })], pools, "now");
    expect(plan.untagged.map(({ id }) => id)).toEqual(["a"]);
  });

  test("give way to a pod that asks for their address", () => {
    const free = [port("a"), port("bb"), port("ccc")];
    expect(portsInTheWay(free, "s1", ["10.9.0.2"], "address-in-use").map(({ id }) => id)).toEqual(["bb"]);
    expect(portsInTheWay(free, "s1", ["10.9.0.77"], "address-in-use")).toEqual([]);
    const six = [port("a", { addresses: ["fd00::5"] })];
    expect(portsInTheWay(six, "s1", ["FD00:0::5"], "address-in-use").map(({ id }) => id)).toEqual(["a"]);
  });

  test("give way to a pod when the quota is full, one port at a time, of the pod's subnet first", () => {
    const free = [port("a"), port("b", { subnet: "s2" })];
    expect(portsInTheWay(free, "s2", [], "quota").map(({ id }) => id)).toEqual(["b"]);
    expect(portsInTheWay(free, "s3", [], "quota").map(({ id }) => id)).toEqual(["a"]);
    expect(portsInTheWay([], "s2", [], "quota")).toEqual([]);
  });

  test("give way in their own subnet only when the subnet has no address left", () => {
    const free = [port("a"), port("b", { subnet: "s2" })];
    expect(portsInTheWay(free, "s2", [], "no-address").map(({ id }) => id)).toEqual(["b"]);
    expect(portsInTheWay(free, "s3", [], "no-address")).toEqual([]);
  });
});
