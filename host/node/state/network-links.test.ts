import { expect, test } from "vitest";
import { linksOf } from "./network-links.ts";

const of = (...plugins: readonly unknown[]) => linksOf(JSON.stringify({ cniVersion: "1.0.0", name: "n", plugins }));

test("finds the bridge, the default bridge, and the link below macvlan, ipvlan, vlan and host-device", () => {
  expect(of({ type: "bridge", bridge: "br-shop" }, { type: "tuning" })).toEqual([
    { kind: "bridge", name: "br-shop", type: "bridge" },
  ]);
  expect(of({ type: "bridge" })).toEqual([{ kind: "bridge", name: "cni0", type: "bridge" }]);
  for (const type of ["macvlan", "ipvlan", "vlan"])
    expect(of({ type, master: "eth1" })).toEqual([{ kind: "parent", name: "eth1", type }]);
  expect(of({ type: "host-device", device: "eth7" })).toEqual([{ kind: "parent", name: "eth7", type: "host-device" }]);
});

test("finds none where the configuration names none or is no list", () => {
  expect(of({ type: "macvlan" }, { type: "ptp" }, { type: 7 }, null, { type: "constructor", constructor: "x" })).toEqual([]);
  for (const text of ["", "{", "null", "[]", '{"plugins":7}']) expect(linksOf(text)).toEqual([]);
});

test("takes control characters out of a name and bounds it", () => {
  expect(of({ type: "bridge", bridge: `\u001b[31m${"b".repeat(10_000)}` })[0]?.name.length).toBeLessThan(17);
});
