// The published schema of a port and the reader of the controller agree.

import { expect, test } from "vitest";
import { readProvidedPort } from "./provided-port.ts";
import { portMessage, providerMessages } from "./provider-messages.ts";

const port = {
  providerId: "p-17",
  mac: "02:00:00:00:00:07",
  addresses: [{ address: "10.9.0.7/24", gateway: "10.9.0.1" }, { address: "fd00::7/64" }],
  routes: [{ dst: "10.0.0.0/8", gw: "10.9.0.1" }],
  mtu: 1450,
  binding: { type: "address-only" },
};

const changes: readonly (readonly [what: string, change: object, isValid: boolean])[] = [
  ["as in the page", {}, true],
  ["without options", { routes: undefined, mtu: undefined, addresses: [] }, true],
  ["for Open vSwitch", { binding: { type: "ovs", interfaceId: "0b6c-1" } }, true],
  ["for a VLAN", { binding: { type: "vlan", vlan: 4094 } }, true],
  ["with members that a later version may have", { later: true }, true],
  ["without providerId", { providerId: undefined }, false],
  ["with an empty providerId", { providerId: "" }, false],
  ["with a long providerId", { providerId: "x".repeat(254) }, false],
  ["without MAC address", { mac: undefined }, false],
  ["with a short MAC address", { mac: "02:00:00:00:00" }, false],
  ["without addresses", { addresses: undefined }, false],
  ["with an address without prefix length", { addresses: [{ address: "10.9.0.7" }] }, false],
  ["with a wrong address", { addresses: [{ address: "10.9.0.300/24" }] }, false],
  ["with a gateway that is a name", { addresses: [{ address: "10.9.0.7/24", gateway: "gw" }] }, false],
  ["with 33 addresses", { addresses: Array.from({ length: 33 }, () => ({ address: "10.9.0.7/24" })) }, false],
  ["with a route to no network", { routes: [{ dst: "default" }] }, false],
  ["with 65 routes", { routes: Array.from({ length: 65 }, () => ({ dst: "10.0.0.0/8" })) }, false],
  ["with a small MTU", { mtu: 67 }, false],
  ["with an MTU as text", { mtu: "1450" }, false],
  ["without binding", { binding: undefined }, false],
  ["with an unknown binding", { binding: { type: "sriov" } }, false],
  ["with VLAN 0", { binding: { type: "vlan", vlan: 0 } }, false],
  ["with VLAN 4095", { binding: { type: "vlan", vlan: 4095 } }, false],
  ["with an interfaceId that has a space", { binding: { type: "ovs", interfaceId: "a b" } }, false],
];

test.each(changes)("a port %s is judged alike by the schema and by the controller", (_, change, isValid) => {
  // As JSON carries the value: without undefined members.
  const value: unknown = JSON.parse(JSON.stringify({ ...port, ...change }));
  expect({ schema: portMessage.safeParse(value).success, controller: readProvidedPort(value).ok }).toEqual({
    schema: isValid,
    controller: isValid,
  });
});

test("the schema has the controller's own requests", () => {
  const request = {
    key: "shop/0b6c-1",
    pod: { namespace: "shop", name: "web", uid: "0b6c" },
    nodeName: "node-1",
    parameters: { zone: "blue" },
    requested: { ips: ["10.9.0.7"], mac: "02:00:00:00:00:07" },
  };
  expect(providerMessages.EnsureRequest.safeParse({ owner: "cluster-a", request }).error).toBeUndefined();
});
