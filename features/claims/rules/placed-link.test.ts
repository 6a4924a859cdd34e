import { expect, test } from "vitest";
import { parseNetworkList } from "../../../src/cni/network-list.ts";
import { placedLink } from "./placed-link.ts";
import type { ClaimedLink } from "./prepared-claim.ts";

const shared: ClaimedLink = { name: "eth1", kind: "link", isExclusive: false };
const exclusive: ClaimedLink = { name: "eth1", kind: "link", isExclusive: true };

function placed(plugin: object, link: ClaimedLink, later: object = { type: "tuning" }, isTrusted = false): unknown {
  const list = parseNetworkList(JSON.stringify({ cniVersion: "1.0.0", name: "n", plugins: [plugin, later] }));
  if (!list.ok) throw new Error(list.fault.msg);
  const answer = placedLink(list.value, link, "claim", isTrusted);
  return answer.ok ? JSON.parse(answer.value.text).plugins : answer.fault.msg;
}

test.each([
  ["macvlan", shared, { master: "eth1" }],
  ["vlan", shared, { master: "eth1" }],
  ["bridge", { ...shared, name: "br0", kind: "bridge" as const }, { bridge: "br0" }],
  ["host-device", exclusive, { device: "eth1" }],
  // The reference plugin ignores `deviceID` outside of `runtimeConfig`.
  ["host-device", { ...exclusive, pciAddress: "0000:18:02.1" }, { device: "eth1" }],
  ["sriov", { ...exclusive, pciAddress: "0000:18:02.1" }, { deviceID: "0000:18:02.1" }],
])("the first plugin, %s, gets the claimed link", (type, link, keys) => {
  expect(placed({ type }, link)).toEqual([{ type, ...keys }, { type: "tuning" }]);
  expect(placed({ type, ...keys }, link)).toEqual([{ type, ...keys }, { type: "tuning" }]);
});

test("a list that names another link than the claimed one is refused", () => {
  expect(placed({ type: "macvlan", master: "eth2" }, shared)).toContain(
    'plugins[0].master is "eth2", but the claimed device is "eth1"',
  );
});

test("a shared link does not move into a pod, and an exclusive one does nothing else", () => {
  expect(placed({ type: "host-device" }, shared)).toContain("link eth1 is shared with other claims");
  expect(placed({ type: "macvlan" }, exclusive)).toContain("link eth1 is exclusive and moves into the pod");
  expect(placed({ type: "ptp" }, shared)).toContain('plugin "ptp" has no key for a claimed link');
});

test("a device of a VLAN range takes a list with a VLAN of the range only", () => {
  const vlans = { ...shared, vlans: { first: 100, last: 199 } };
  expect(placed({ type: "vlan", vlanId: 150 }, vlans)).toMatchObject([{ master: "eth1" }, {}]);
  expect(placed({ type: "vlan", vlanId: 200 }, vlans)).toContain("is for VLANs 100-199, but the first plugin has vlanId");
  expect(placed({ type: "macvlan" }, vlans)).toContain('plugin "macvlan" has no key for a VLAN');
  expect(placed({ type: "vlan" }, vlans)).toContain("has no vlanId");
});

const bounded = { ...shared, vlans: { first: 100, last: 199 } };

test.each<readonly [plugin: object, link: ClaimedLink, problem: string]>([
  [{ type: "bridge", vlanId: 150, vlan: 999 }, { ...bounded, name: "br0" }, 'vlan "999"'],
  [{ type: "bridge", vlan: 150, VLAN: 999 }, { ...bounded, name: "br0" }, 'plugins[0]."VLAN" must be written as vlan'],
  [{ type: "bridge", vlan: 150, vlanTrunk: [{ minID: 1, maxID: 4094 }] }, { ...bounded, name: "br0" }, "another VLAN"],
  [{ type: "macvlan", Mode: "passthru" }, shared, "takes the whole link, which is shared with other claims"],
  // The port would stay in the bridge's VLAN 1, too.
  [{ type: "bridge", vlan: 150, preserveDefaultVlan: true }, { ...bounded, name: "br0" }, "another VLAN"],
  [{ type: "ovs", vlan: 150, trunk: [{ minID: 1, maxID: 4094 }] }, { ...bounded, name: "br0" }, "another VLAN"],
  [{ type: "macvlan", vlanId: 150 }, bounded, "has no key for a VLAN"],
  [{ type: "macvlan", master: "", Master: "eth9" }, shared, 'plugins[0]."Master" must be written as master'],
  [{ type: "macvlan", "ma\u017fter": "eth9" }, shared, "must be written as master"],
  [{ type: "macvlan", linkInContainer: true }, shared, "another link"],
  [{ type: "host-device", device: "eth9" }, { ...exclusive, pciAddress: "0000:18:02.1" }, 'the claimed device is "eth1"'],
  [{ type: "host-device", hwaddr: "02:00:00:00:00:01" }, exclusive, "another link"],
  [{ type: "host-device", PCIBusID: "0000:18:02.2" }, exclusive, "another link"],
  [{ type: "sriov" }, exclusive, "has no PCI address"],
  [{ type: "bridge", uplinkInterface: "eth9" }, { ...shared, name: "br0" }, "another link"],
  // The IPAM plugin gets the whole configuration, and would move the node's device into the pod.
  [
    { type: "macvlan", device: "eth9", ipam: { type: "host-device" } },
    shared,
    'ipam.type "host-device", which attaches a second link',
  ],
  [{ type: "macvlan", device: "eth9", IPAM: { Type: "host-device" } }, shared, 'ipam.type "host-device"'],
])("another link or VLAN than the claimed one is refused: %j", (plugin, link, problem) => {
  expect(placed(plugin, link)).toContain(problem);
});

test("the list of a class may take the whole link", () => {
  const passthru = { type: "macvlan", mode: "passthru" };
  expect(placed(passthru, shared, { type: "tuning" }, true)).toMatchObject([{ ...passthru, master: "eth1" }, {}]);
});

test("a bridge's port that leaves the default VLAN is one of the range", () => {
  const bridge = { type: "bridge", vlan: 150, preserveDefaultVlan: false };
  expect(placed(bridge, { ...bounded, name: "br0" })).toMatchObject([{ ...bridge, bridge: "br0" }, {}]);
});

test("a later plugin attaches no second link", () => {
  for (const later of [
    { type: "macvlan", master: "eth9" },
    { type: "bond", links: [{ name: "eth8" }, { name: "eth9" }] },
    { type: "bridge-adapter", bridge: "br9" },
    { type: "external-port", master: "eth9" },
    { type: "flannel", delegate: { type: "macvlan", master: "eth9" } },
  ])
    expect(placed({ type: "macvlan" }, shared, later)).toContain(`plugins[1] is "${later.type}"`);
  const device = { type: "tuning", device: "eth9", ipam: { type: "host-device" } };
  expect(placed({ type: "macvlan" }, shared, device)).toContain('ipam.type "host-device"');
});
