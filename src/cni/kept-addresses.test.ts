import { describe, expect, test } from "vitest";
import type { Attachment } from "./attachment.ts";
import { addressTexts, keepAddresses, withResultMac, withSameMac } from "./kept-addresses.ts";
import { parseNetworkList } from "./network-list.ts";
import { readResult } from "./read-result.ts";

const printed = {
  ips: [{ address: "10.0.0.2/24", gateway: "10.0.0.1" }],
  routes: [{ dst: "0.0.0.0/0", gw: "10.0.0.1" }, { dst: "0.0.0.0/0", gw: "10.0.0.9", table: 100 }, { dst: "10.1.0.0/16" }],
};

/** The documents of the list's plugins with the addresses of a result, or the fault's kind and message. */
function keptPlugins(plugins: readonly object[], text: object = printed): unknown {
  const list = parseNetworkList(JSON.stringify({ name: "n", cniVersion: "1.1.0", plugins }));
  const result = readResult(JSON.stringify(text), "1.1.0");
  if (!list.ok || !result.ok) throw new Error("list or result is invalid");
  const kept = keepAddresses(list.value, result.value.result);
  return kept.ok ? kept.value.plugins.map(({ document }) => document.parsed) : `${kept.fault.kind}: ${kept.fault.msg}`;
}

/** `ipam` of the list's plugin, which has these members besides. */
function keptIpam(more: object, text: object = printed): unknown {
  const plugins = keptPlugins([{ type: "bridge", ipam: { type: "host-local" }, ...more }], text);
  return Array.isArray(plugins) ? Object(plugins[0])["ipam"] : plugins;
}

/** The texts of a printed result's addresses for this interface. */
function addresses(text: object, ifname: string): readonly string[] {
  const read = readResult(JSON.stringify(text), "1.1.0");
  if (!read.ok) throw new Error(read.fault.msg);
  return addressTexts(read.value.result, ifname);
}

test("the addresses and routes of a result are those of static", () => {
  expect(keptIpam({})).toEqual({ type: "static", addresses: printed.ips, routes: printed.routes });
});

test("a plugin with isDefaultGateway adds the default route of the main table itself, and no other", () => {
  expect(keptIpam({ isDefaultGateway: true })).toMatchObject({ routes: printed.routes.slice(1) });
});

test("an address without a gateway has none, and DNS settings are those of the result", () => {
  const dns = { nameservers: ["10.0.0.53"], search: ["shop.example"], options: [] };
  const kept = keptIpam({}, { ips: [{ address: "10.0.0.2/24" }], dns });
  expect(kept).toEqual({ type: "static", addresses: [{ address: "10.0.0.2/24" }], routes: [], dns });
});

test("plugins without ipam.type stay as they are", () => {
  const [tuning, bridge] = [
    { type: "tuning", mtu: 1400 },
    { type: "bridge", ipam: { type: "dhcp" } },
  ];
  expect(keptPlugins([bridge, tuning])).toEqual([{ type: "bridge", ipam: expect.objectContaining({ type: "static" }) }, tuning]);
});

test("addresses of a list without IPAM are refused, and a result without addresses is not", () => {
  const why = "network n: no plugin of its list has ipam.type, so the same addresses cannot be asked for";
  expect(keptPlugins([{ type: "macvlan" }, { type: "tuning" }])).toBe(`HOT_PLUG_REFUSED: ${why}`);
  expect(keptPlugins([{ type: "macvlan" }], { ips: [] })).toEqual([{ type: "macvlan" }]);
});

describe("the same hardware address", () => {
  const attachment: Attachment = {
    containerId: "c1",
    ifname: "net1",
    netns: "/run/netns/c1",
    args: "IgnoreUnknown=0;K8S_POD_NAME=web;MAC=0a:00:00:00:00:01;IP=10.0.0.9;GATEWAY=10.0.0.1",
    capabilityArgs: new Map([
      ["ips", '["10.0.0.9/24"]'],
      ["mac", '"0a:00:00:00:00:01"'],
      ["bandwidth", "{}"],
    ]),
  };

  test("is asked for by CNI_ARGS and by the capability, in place of earlier requests for addresses", () => {
    expect(withSameMac(attachment, "0a:00:00:00:00:02")).toEqual({
      ...attachment,
      args: "IgnoreUnknown=1;K8S_POD_NAME=web;MAC=0a:00:00:00:00:02",
      capabilityArgs: new Map([
        ["bandwidth", "{}"],
        ["mac", '"0a:00:00:00:00:02"'],
      ]),
    });
  });

  test("is not asked for where the link has none", () => {
    expect(withSameMac(attachment, "")).toEqual({
      ...attachment,
      args: "IgnoreUnknown=1;K8S_POD_NAME=web",
      capabilityArgs: new Map([["bandwidth", "{}"]]),
    });
  });
});

describe("the result of an attachment", () => {
  const result = {
    cniVersion: "1.1.0",
    interfaces: [
      { name: "net1", mac: "0a:00:00:00:00:01" },
      { name: "net1", mac: "0a:00:00:00:00:02", sandbox: "/run/netns/c1" },
      { name: "other", mac: "0a:00:00:00:00:03", sandbox: "/run/netns/c1" },
      { name: "net1", mac: "0a:00:00:00:00:04", sandbox: "" },
    ],
    ips: [
      { address: "fd00::2/64", interface: 1 },
      { address: "10.0.0.2/24", interface: 1 },
      { address: "10.1.0.2/24", interface: 2 },
    ],
  };
  test("has the addresses of its interface, sorted; all of them without that interface", () => {
    expect(addresses(result, "net1")).toEqual(["10.0.0.2/24", "fd00::2/64"]);
    expect(addresses(result, "other")).toEqual(["10.1.0.2/24"]);
    expect(addresses(result, "none")).toEqual(["10.0.0.2/24", "10.1.0.2/24", "fd00::2/64"]);
  });

  test("gets another hardware address of the pod's interface alone", () => {
    const changed = JSON.parse(withResultMac(JSON.stringify(result), "net1", "0a:00:00:00:00:09"));
    const interfaces = result.interfaces.map((each, index) => (index === 1 ? { ...each, mac: "0a:00:00:00:00:09" } : each));
    expect(changed).toEqual({ ...result, interfaces });
  });

  test.each(["", "5", "[]", "{}", '{"interfaces":{}}', "{"])("stays as it is where it names no interfaces: %j", (text) => {
    expect(withResultMac(text, "net1", "0a:00:00:00:00:09")).toBe(text);
  });

  test("keeps elements that are no interfaces", () => {
    const text = JSON.stringify({ interfaces: [null, "net1", { name: "net1" }] });
    expect(withResultMac(text, "net1", "0a:00:00:00:00:09")).toBe(text);
  });
});
