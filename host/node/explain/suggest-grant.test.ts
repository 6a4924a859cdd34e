import { expect, test } from "vitest";
import { isUsed, suggestedGrant, uncovered } from "./suggest-grant.ts";

const config = { type: "external-port", bridge: "br-int", master: "eth1" };

test("a bridge in the configuration is one of Open vSwitch for a component that imports ovs, and the kernel's for others", () => {
  expect(suggestedGrant("ovs", config, ["links", "ovs"])).toEqual({ bridges: ["br-int"] });
  expect(suggestedGrant("links", config, ["links", "ovs"])).toEqual({ parents: ["eth1"] });
  expect(suggestedGrant("links", config, ["links"])).toEqual({ bridges: ["br-int"], parents: ["eth1"] });
  const imports = { imported: ["links", "ovs"], optional: ["ovs"] };
  const grants = { links: { parents: ["eth1"] }, ovs: { bridges: ["br-ex"] } };
  expect(uncovered("wasm.grants", "external-port", config, grants, imports)).toEqual([
    "bridge br-int: wasm.grants.external-port.ovs.bridges has br-ex",
  ]);
  const without = { links: { parents: ["eth1"] } };
  expect(uncovered("wasm.grants", "external-port", config, without, imports)).toEqual([
    "bridge br-int: wasm.grants.external-port.ovs.bridges has nothing",
  ]);
  expect(uncovered("wasm.grants", "external-port", config, without, { ...imports, optional: [] })).toEqual([]);
});

test.each([
  [{}, false],
  [{ ipMasq: true }, true],
  [{ macspoofchk: true }, true],
  [{ macspoofchk: false }, false],
])("firewall is used by a bridge-adapter with %o: %s", (keys, expected) => {
  expect(isUsed("firewall", { type: "bridge-adapter", ...keys }, ["firewall"])).toBe(expected);
});
