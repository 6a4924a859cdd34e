import { describe, expect, test } from "vitest";
import type { LinksOperation, LinksVfSettings } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import { operationMistake } from "./operation-mistake.ts";

function route(tag: "add-route" | "delete-route", dst: string): LinksOperation {
  return { tag, val: { place: "pod", link: { place: "pod", name: "eth0" }, route: { dst } } } as LinksOperation;
}

describe("the operation add-route", () => {
  test.each([
    ["10.0.0.5/24", "the route's destination 10.0.0.5/24 has host bits set: the network is 10.0.0.0/24"],
    ["1.0.0.0/0", "the route's destination 1.0.0.0/0 has host bits set: the network is 0.0.0.0/0"],
    ["10.0.0.0/24", undefined],
    ["10.0.0.5/32", undefined],
    // The kernel clears them.
    ["fd00::5/64", undefined],
  ])("FI-26: to %s has the mistake %s, as the kernel answers a native plugin", (dst, mistake) => {
    expect(operationMistake(route("add-route", dst))).toBe(mistake);
    expect(operationMistake(route("delete-route", dst))).toBeUndefined();
  });
});

function setVf(settings: Partial<LinksVfSettings>): LinksOperation {
  return { tag: "set-vf", val: { pciAddress: "0000:3b:02.1", vlanServiceTag: false, ...settings } };
}

describe("the operation set-vf", () => {
  test.each<readonly [Partial<LinksVfSettings>, string | undefined]>([
    [{}, undefined],
    [{ vlan: 4094, vlanQos: 7, vlanServiceTag: true, minRate: 1, maxRate: 1 }, undefined],
    [{ vlan: 0, vlanQos: 0, minRate: 5, maxRate: 0 }, undefined],
    [{ pciAddress: "../../net" }, '"../../net" is not a PCI address'],
    [{ pciAddress: "0000:3b:02.8" }, '"0000:3b:02.8" is not a PCI address'],
    [{ mac: "02:00" }, '"02:00" is not a MAC address'],
    [{ vlan: 4095 }, "VLAN 4095 exceeds the maximum of 4094"],
    [{ vlan: 1, vlanQos: 8 }, "the VLAN priority 8 exceeds the maximum of 7"],
    [{ vlan: 0, vlanQos: 1 }, "a priority and 802.1ad need a VLAN"],
    [{ vlanServiceTag: true }, "a priority and 802.1ad need a VLAN"],
    [{ minRate: 2, maxRate: 1 }, "the minimum rate 2 exceeds the maximum rate 1"],
  ])("with %j has the mistake %s", (settings, mistake) => {
    expect(operationMistake(setVf(settings))).toBe(mistake);
  });
});
