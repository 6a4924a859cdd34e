import { expect, test } from "vitest";
import { attributeOf, readDeviceSettings } from "./device-settings.ts";

const read = (...devices: readonly object[]): unknown => readDeviceSettings(JSON.stringify({ devices }));
const entry = { name: "storage", match: { name: "eth1" }, shared: { attachments: 3 } };

test("an entry with all keys is read, and the rest has defaults", () => {
  expect(read(entry)).toMatchObject({
    ok: true,
    value: [
      {
        name: "storage",
        match: { name: "eth1" },
        shared: { attachments: 3 },
        whenDown: "NoSchedule",
        networks: [],
        vlans: undefined,
      },
    ],
  });
  const whole = {
    ...entry,
    vlans: "100-199",
    networks: ["blue"],
    whenDown: "NoExecute",
    shared: { attachments: 1, bandwidth: "10G" },
  };
  expect(read(whole)).toMatchObject({ value: [{ vlans: { first: 100, last: 199 }, networks: ["blue"], whenDown: "NoExecute" }] });
  const nic = { name: "nic", match: { pciVendor: "0x15B3" }, exclusive: true, resourceName: "example.com/nic" };
  expect(read(nic)).toMatchObject({
    value: [{ match: { pciVendor: "15b3" }, shared: undefined, resourceName: "example.com/nic" }],
  });
});

test.each<[string, object, string]>([
  ["a name that is no label", { ...entry, name: "Storage" }, "devices[0].name must be a DNS-1123 label"],
  ["an unknown key", { ...entry, master: "eth1" }, 'devices[0]."master" is no key'],
  ["no selector", { ...entry, match: {} }, "devices[0].match needs at least one of"],
  ["an unknown selector", { ...entry, match: { mac: "x" } }, 'devices[0].match."mac" is no key'],
  [
    "an unknown kind",
    { ...entry, match: { kind: "nic" } },
    "devices[0].match.kind must be one of link, bond, bridge, ovs-bridge",
  ],
  ["neither shared nor exclusive", { ...entry, shared: undefined }, "devices[0] must have either shared"],
  ["both", { ...entry, exclusive: true }, "devices[0] must have either shared"],
  ["a count below one", { ...entry, shared: { attachments: 0 } }, "devices[0].shared.attachments must be a whole number"],
  [
    "a bandwidth with another unit",
    { ...entry, shared: { bandwidth: "10Gbit" } },
    "devices[0].shared.bandwidth must be a quantity",
  ],
  ["a VLAN range that ends first", { ...entry, vlans: "9-3" }, "devices[0].vlans must be a range within 1-4094"],
  ["two networks with one attribute", { ...entry, networks: ["a-b", "a-b"] }, 'devices[0].networks[1] "a-b" has the attribute'],
  [
    "a name that no attribute can have",
    { ...entry, networks: [`5${"g".repeat(31)}`] },
    "devices[0].networks[0] must be a PodNetwork's name",
  ],
  [
    "a resource's name that no attribute can have",
    { ...entry, shared: undefined, exclusive: true, resourceName: `example.com/${"n".repeat(53)}` },
    "devices[0].resourceName must be a name such as example.com/nic with at most 64 characters",
  ],
  ["another effect", { ...entry, whenDown: "evict" }, "devices[0].whenDown must be one of NoSchedule, NoExecute, withdraw"],
  ["a resource of a shared device", { ...entry, resourceName: "a/b" }, "devices[0].resourceName must be a name"],
])("%s is refused with its field", (_, device, message) => {
  expect(read(device)).toMatchObject({ ok: false, problem: expect.stringContaining(message) });
});

test("a name twice, and a text that is no such file, are refused", () => {
  expect(read(entry, entry)).toMatchObject({ problem: 'devices[1].name "storage" is that of devices[0]' });
  expect(readDeviceSettings("[]")).toMatchObject({ problem: expect.stringContaining("must be an object") });
  expect(readDeviceSettings("{")).toMatchObject({ problem: expect.stringContaining("is not JSON") });
});

test("an attribute's identifier begins with no digit", () => {
  expect(["blue-net", "5g-core"].map(attributeOf)).toEqual(["blue_net", "_5g_core"]);
});
