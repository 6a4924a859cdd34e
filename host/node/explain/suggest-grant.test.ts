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
  [{ vlan: 100 }, ["100"]],
  [{ vlan: 5, trunk: [{ id: 42 }, { minID: 1000, maxID: 1010 }] }, ["42", "1000-1010"]],
  [{}, ["0-4095"]],
])("a port of ovs with %o needs VLANs %j", (keys, vlans) => {
  const port = { type: "ovs", bridge: "br1", ...keys };
  expect(suggestedGrant("ovs", port, ["links", "ovs"])).toEqual({ bridges: ["br1"], vlans });
  const imports = { imported: ["ovs"], optional: [] };
  expect(uncovered("wasm.grants", "ovs", port, { ovs: { bridges: ["br1"], vlans: ["0-4095"] } }, imports)).toEqual([]);
  expect(uncovered("wasm.grants", "ovs", port, { ovs: { bridges: ["br1"], vlans: ["7"] } }, imports)).toEqual(
    vlans.map((each) => `vlan ${each}: wasm.grants.ovs.ovs.vlans has 7`),
  );
});

test("a virtual function of sriov needs its VLAN, and a grant of trust for trust or no spoof check", () => {
  const sriov = { type: "sriov", vlan: 100, spoofchk: "off" };
  expect(suggestedGrant("links", sriov, ["links"])).toEqual({ vfVlans: ["100"], vfTrust: true });
  expect(suggestedGrant("links", { type: "sriov", trust: "off", spoofchk: "on" }, ["links"])).toEqual({});
  const imports = { imported: ["links"], optional: [] };
  expect(uncovered("wasm.grants", "sriov", sriov, { links: { vfVlans: ["1-200"], vfTrust: true } }, imports)).toEqual([]);
  expect(uncovered("wasm.grants", "sriov", sriov, { links: { vfVlans: ["7"] } }, imports)).toEqual([
    "vlan 100: wasm.grants.sriov.links.vfVlans has 7",
    "spoofchk: wasm.grants.sriov.links.vfTrust has nothing",
  ]);
});

test.each([
  [{}, false],
  [{ ipMasq: true }, true],
  [{ macspoofchk: true }, true],
  [{ macspoofchk: false }, false],
])("firewall is used by a bridge-adapter with %o: %s", (keys, expected) => {
  expect(isUsed("firewall", { type: "bridge-adapter", ...keys }, ["firewall"])).toBe(expected);
});

test("a ptp needs forwarding, and the networks of its IPAM plugin on the node's end", () => {
  const local = { type: "ptp", ipam: { type: "host-local", ranges: [[{ subnet: "10.1.0.0/24" }], [{ subnet: "fd00:1::/64" }]] } };
  expect(suggestedGrant("links", local, ["links"])).toEqual({ forwarding: true, networks: ["10.1.0.0/24", "fd00:1::/64"] });
  const fixed = { type: "ptp", ipam: { type: "static", addresses: [{ address: "10.2.0.9/24" }, { address: "10.2.0.10/24" }] } };
  expect(suggestedGrant("links", fixed, ["links"])).toEqual({ forwarding: true, networks: ["10.2.0.0/24"] });
  const imports = { imported: ["links"], optional: [] };
  expect(uncovered("wasm.grants", "ptp", fixed, { links: { forwarding: true, networks: ["10.0.0.0/8"] } }, imports)).toEqual([]);
  expect(uncovered("wasm.grants", "ptp", fixed, { links: { networks: ["10.3.0.0/16"] } }, imports)).toEqual([
    "ptp: wasm.grants.ptp.links.forwarding has nothing",
    "ipam 10.2.0.0/24: wasm.grants.ptp.links.networks has 10.3.0.0/16",
  ]);
});
