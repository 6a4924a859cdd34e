import { describe, expect, test } from "vitest";
import { kuryrVifs } from "./kuryr-vifs.ts";
import type { ProvidedPort } from "./provided-port.ts";

const port: ProvidedPort = {
  providerId: "0f3c2a1e-5d7b-4c59-9a53-7d1c6f0f7a10",
  mac: "fa:16:3e:00:00:01",
  addresses: [
    { address: "10.9.0.5/24", gateway: "10.9.0.1" },
    { address: "10.9.0.6/24", gateway: "10.9.0.1" },
    { address: "fd00::5/64" },
  ],
  routes: [{ dst: "10.0.0.0/8", gw: "10.9.0.2" }, { dst: "fd01::/64", gw: "fd00::1" }, { dst: "10.8.0.0/16" }],
  mtu: 1442,
  binding: { type: "ovs", interfaceId: "0f3c2a1e-5d7b-4c59-9a53-7d1c6f0f7a10" },
};
const shown = (change: Partial<ProvidedPort> = {}, isActive = false): unknown =>
  kuryrVifs([{ name: "net1", port: { ...port, ...change }, isActive }], "br-int")["net1"];
const object = (name: string, data: object): object => ({
  "versioned_object.name": name,
  "versioned_object.data": expect.objectContaining(data),
});

describe("KU-12 KU-13 a port in Kuryr's form", () => {
  test("is a vif of Open vSwitch with the port's values", () => {
    expect(shown()).toMatchObject(
      object("VIFOpenVSwitch", {
        id: port.providerId,
        address: port.mac,
        active: false,
        bridge_name: "br-int",
        vif_name: "tap0f3c2a1e-5d",
        plugin: "ovs",
      }),
    );
    expect(shown({}, true)).toMatchObject(object("VIFOpenVSwitch", { active: true }));
  });

  test("has one subnet for each network of its addresses, and each route in the subnet of its family", () => {
    const subnets = JSON.parse(JSON.stringify(shown()))["versioned_object.data"].network["versioned_object.data"].subnets;
    const read = subnets["versioned_object.data"].objects.map((each: Record<string, never>) => each["versioned_object.data"]);
    const list = (key: string): readonly object[] =>
      read.map((each: Record<string, Record<string, Record<string, readonly Record<string, object>[]>>>) =>
        each[key]?.["versioned_object.data"]?.["objects"]?.map((one) => one["versioned_object.data"]),
      );
    expect(read).toMatchObject([{ cidr: "10.9.0.0/24", gateway: "10.9.0.1" }, { cidr: "fd00::/64" }]);
    expect(list("ips")).toEqual([[{ address: "10.9.0.5" }, { address: "10.9.0.6" }], [{ address: "fd00::5" }]]);
    expect(list("routes")).toEqual([[{ cidr: "10.0.0.0/8", gateway: "10.9.0.2" }], [{ cidr: "fd01::/64", gateway: "fd00::1" }]]);
  });

  test("is a nested vif with its VLAN, or without one", () => {
    expect(shown({ binding: { type: "vlan", vlan: 7 } })).toMatchObject(object("VIFVlanNested", { vlan_id: 7, plugin: "noop" }));
    expect(shown({ binding: { type: "address-only" } })).toMatchObject(object("VIFMacvlanNested", { plugin: "noop" }));
  });

  test("stands under its interface's name, in the names' order", () => {
    const all = ["net2", "net1"].map((name) => ({ name, port, isActive: true }));
    expect(Object.keys(kuryrVifs(all, "br-int"))).toEqual(["net1", "net2"]);
  });
});
