import { expect, test } from "vitest";
import { type DeviceSettings, readDeviceSettings } from "./device-settings.ts";
import type { NodeLink } from "./node-link.ts";
import { offeredDevices, publishedDevices } from "./offered-devices.ts";

const link = (name: string, more: Partial<NodeLink> = {}): NodeLink => ({
  name,
  kind: "link",
  isUp: true,
  isAdminUp: true,
  mtu: 1500,
  speed: undefined,
  driver: undefined,
  pciAddress: undefined,
  pcieRoot: undefined,
  pciVendor: undefined,
  numaNode: undefined,
  hasRdma: false,
  ...more,
});
function settings(...devices: readonly object[]): readonly DeviceSettings[] {
  const read = readDeviceSettings(JSON.stringify({ devices }));
  if (!read.ok) throw new Error(read.problem);
  return read.value;
}
const names = (entries: readonly DeviceSettings[], ...links: readonly NodeLink[]): readonly string[] =>
  offeredDevices(entries, links).devices.map(({ name }) => name);

test("DR-02: selectors pick links by name, kind, driver and vendor; all of an entry must hold", () => {
  const links = [
    link("eth0"),
    link("eth1.100"),
    link("bond0", { kind: "bond" }),
    link("ens1", { driver: "mlx5_core", pciVendor: "15b3" }),
  ];
  const shared = { attachments: 1 };
  expect(names(settings({ name: "a", match: { name: "eth*" }, shared }), ...links)).toEqual(["a-eth0", "a-eth1-100"]);
  expect(names(settings({ name: "a", match: { kind: "bond" }, shared }), ...links)).toEqual(["a-bond0"]);
  expect(names(settings({ name: "a", match: { driver: "mlx5_core", pciVendor: "15b3" }, shared }), ...links)).toEqual(["a-ens1"]);
  expect(names(settings({ name: "a", match: { driver: "mlx5_core", name: "eth0" }, shared }), ...links)).toEqual([]);
  expect(names(settings({ name: "a", match: { name: "*" }, shared }), link("lo"))).toEqual([]);
});

test("DR-02: links whose devices would have one name are not offered, so that a claim's device never becomes another link", () => {
  const shared = { attachments: 1 };
  const entry = settings({ name: "a", match: { name: "eth*" }, shared });
  expect(names(entry, link("eth0.100"), link("eth1"))).toEqual(["a-eth0-100", "a-eth1"]);
  // A later link, whose name comes first.
  const offered = offeredDevices(entry, [link("eth0.100"), link("eth0-100"), link("eth1")]);
  expect(offered.devices.map(({ name }) => name)).toEqual(["a-eth1"]);
  expect(offered.problems).toEqual([expect.stringContaining("links eth0-100, eth0.100 would each be device a-eth0-100")]);
  const two = settings({ name: "a", match: { name: "b-c" }, shared }, { name: "a-b", match: { name: "c" }, shared });
  expect(names(two, link("b-c"), link("c"))).toEqual([]);
});

test("DR-03: one link may be two shared devices, and never an exclusive one beside another", () => {
  const vlan = { match: { name: "eth1" }, shared: { attachments: 1 } };
  const two = settings({ ...vlan, name: "low", vlans: "1-99" }, { ...vlan, name: "high", vlans: "100-199" });
  expect(names(two, link("eth1"))).toEqual(["low-eth1", "high-eth1"]);
  const exclusive = { name: "whole", match: { name: "eth1" }, exclusive: true };
  for (const rivals of [
    [exclusive, { ...vlan, name: "low" }],
    [{ ...vlan, name: "low" }, exclusive],
  ]) {
    const offered = offeredDevices(settings(...rivals), [link("eth1")]);
    expect(offered.devices).toHaveLength(1);
    expect(offered.problems).toEqual([expect.stringContaining("one of them is exclusive")]);
  }
});

test("DR-02, DR-03, DR-09: a device has standard attributes, capacities and the networks that it reaches", () => {
  const entry = {
    name: "nic",
    match: { name: "ens1" },
    shared: { attachments: 3, bandwidth: "10G" },
    vlans: "100-199",
    networks: ["blue-net"],
  };
  const ens1 = link("ens1", { pciAddress: "0000:18:02.1", pcieRoot: "pci0000:16", numaNode: 1, speed: 25_000, hasRdma: true });
  expect(publishedDevices(offeredDevices(settings(entry), [ens1]).devices)).toEqual([
    {
      name: "nic-ens1",
      allowMultipleAllocations: true,
      attributes: {
        link: { string: "ens1" },
        kind: { string: "link" },
        up: { bool: true },
        mtu: { int: 1500 },
        speedMbps: { int: 25_000 },
        numaNode: { int: 1 },
        rdma: { bool: true },
        vlanFirst: { int: 100 },
        vlanLast: { int: 199 },
        "resource.kubernetes.io/pciBusID": { string: "0000:18:02.1" },
        "resource.kubernetes.io/pcieRoot": { string: "pci0000:16" },
        "networks.plexus.dev/blue_net": { bool: true },
      },
      capacity: {
        attachments: { value: "3", requestPolicy: { default: "1", validRange: { min: "1", step: "1" } } },
        bandwidth: { value: "10G", requestPolicy: { default: "0", validRange: { min: "0" } } },
      },
    },
  ]);
});

test("DR-08: a link that is down has a taint, or no device", () => {
  const down = link("eth1", { isUp: false });
  const published = (whenDown: string): readonly object[] =>
    publishedDevices(offeredDevices(settings({ name: "a", match: { name: "eth1" }, exclusive: true, whenDown }), [down]).devices);
  expect(published("NoExecute")).toMatchObject([{ taints: [{ key: "plexus.dev/link-down", effect: "NoExecute" }] }]);
  expect(published("withdraw")).toEqual([]);
});

test("DR-03, DR-08: an exclusive link that a pod's DEL has left administratively down is free for the next pod, and a shared one is down", () => {
  const left = link("eth1", { isUp: false, isAdminUp: false });
  for (const whenDown of ["NoSchedule", "NoExecute", "withdraw"]) {
    const entry = { name: "a", match: { name: "eth1" }, whenDown };
    const [exclusive] = publishedDevices(offeredDevices(settings({ ...entry, exclusive: true }), [left]).devices);
    expect(exclusive).toMatchObject({ name: "a-eth1", attributes: { up: { bool: false } } });
    expect(exclusive).not.toHaveProperty("taints");
    const shared = publishedDevices(offeredDevices(settings({ ...entry, shared: { attachments: 1 } }), [left]).devices);
    expect(shared).toMatchObject(whenDown === "withdraw" ? [] : [{ taints: [{ effect: whenDown }] }]);
    expect(shared).toHaveLength(whenDown === "withdraw" ? 0 : 1);
  }
});
