import { array, assert, constantFrom, integer, option, property, record } from "fast-check";
import { describe, expect, test } from "vitest";
import { readResult } from "../cni/read-result.ts";
import type { CniResult } from "../cni/result.ts";
import { type AttachmentOutcome, networkStatus, networkStatusAnnotation } from "./network-status.ts";
import { compat, type NpwgProfile, strict } from "./profile.ts";

function result(printed: object): CniResult {
  const read = readResult(JSON.stringify({ cniVersion: "1.1.0", ...printed }), "1.1.0");
  if (!read.ok) throw new Error(read.fault.msg);
  return read.value.result;
}

type Entry = Record<string, unknown>;

function status(outcomes: readonly AttachmentOutcome[], profile: NpwgProfile = strict): Entry[] {
  const text = networkStatus(outcomes, profile);
  if (!text.ok) throw new Error(text.fault.msg);
  return JSON.parse(text.value) as Entry[];
}

const outcome = (printed: object | undefined, rest: Partial<AttachmentOutcome> = {}): AttachmentOutcome => ({
  network: "ns/net-a",
  ifname: "net1",
  isDefault: false,
  result: printed === undefined ? undefined : result(printed),
  ...rest,
});

const defaultNetwork = outcome({}, { network: "cluster", ifname: "eth0", isDefault: true });

/** The entries of one attachment, without the default network's. */
const entries = (printed: object | undefined, profile: NpwgProfile = strict, rest: Partial<AttachmentOutcome> = {}): Entry[] =>
  status([defaultNetwork, outcome(printed, rest)], profile).slice(1);

const sandboxed = {
  interfaces: [
    { name: "veth1", mac: "02:00:00:00:00:01" },
    { name: "net1", mac: "02:00:00:00:00:02", sandbox: "/n", mtu: 1450 },
    { name: "net1b", mac: "02:00:00:00:00:03", sandbox: "/n" },
  ],
  ips: [
    { address: "192.0.2.1/24", interface: 0 },
    { address: "192.0.2.2/24", interface: 1 },
    { address: "2001:db8::2/32", interface: 1 },
    { address: "198.51.100.2/24", interface: 2 },
    { address: "203.0.113.2/24" },
  ],
};

describe("where the status comes from", () => {
  test("N1-36: the annotation's key and a JSON list", () => {
    expect(networkStatusAnnotation).toBe("k8s.v1.cni.cncf.io/network-status");
    expect(networkStatus([defaultNetwork], strict)).toEqual({ ok: true, value: '[{"name":"cluster","default":true}]' });
  });

  test("N1-37: the first sandbox interface of the result gives the entry", () => {
    expect(entries(sandboxed)).toEqual([
      { name: "ns/net-a", interface: "net1", ips: ["192.0.2.2/24", "2001:db8::2/32"], mac: "02:00:00:00:00:02", default: false },
    ]);
  });

  test.each([undefined, {}])("N1-38: a result of %j makes a minimal entry", (printed) => {
    for (const profile of [strict, compat]) expect(entries(printed, profile)).toEqual([{ name: "ns/net-a", default: false }]);
  });

  test("N1-39: all data of sandbox interfaces is used", () => {
    const dns = { nameservers: ["192.0.2.53"], domain: "example.com", search: ["eng.example.com"], options: ["ndots:5"] };
    const printed = {
      interfaces: [{ name: "net1", mac: "02:00:00:00:00:02", sandbox: "/n", mtu: 1450 }],
      ips: [{ address: "192.0.2.2/24", interface: 0 }],
      routes: [{ dst: "0.0.0.0/0", gw: "192.0.2.1" }],
      dns,
    };
    expect(entries(printed, compat)).toEqual([
      {
        name: "ns/net-a",
        interface: "net1",
        ips: ["192.0.2.2"],
        mac: "02:00:00:00:00:02",
        mtu: 1450,
        default: false,
        dns,
        gateway: ["192.0.2.1"],
      },
    ]);
  });

  const old = {
    cniVersion: "0.2.0",
    ip4: { ip: "192.0.2.2/24" },
    ip6: { ip: "2001:db8::2/64" },
    dns: { nameservers: ["192.0.2.53"] },
  };

  test("N1-40: a result of 0.2.0 gives name, interface, both addresses and dns", () => {
    expect(entries(old)).toEqual([
      {
        name: "ns/net-a",
        interface: "net1",
        ips: ["192.0.2.2/24", "2001:db8::2/64"],
        default: false,
        dns: { nameservers: ["192.0.2.53"] },
      },
    ]);
  });

  test("N1-45: before 0.3.0 the interface is CNI_IFNAME", () => {
    expect(entries(old, strict, { ifname: "data" })[0]).toMatchObject({ interface: "data" });
    expect(entries({ ...old, cniVersion: "0.1.0" }, compat)[0]).toMatchObject({ interface: "net1" });
  });

  test("N1-49: before 0.3.0 ips are those of ip4 and ip6", () => {
    expect(entries({ cniVersion: "0.1.0", ip6: { ip: "2001:db8::2/64" } })[0]).toMatchObject({ ips: ["2001:db8::2/64"] });
  });
});

describe("the default network", () => {
  test("N1-41: the default network has an entry with default true, whatever its result", () => {
    for (const printed of [undefined, {}, sandboxed]) {
      const withResult = { ...defaultNetwork, result: printed === undefined ? undefined : result(printed) };
      expect(status([withResult, outcome(sandboxed)])[0]).toMatchObject({ name: "cluster", default: true });
    }
  });

  test("N1-53: every entry has a boolean default", () => {
    for (const profile of [strict, compat]) {
      for (const entry of status([defaultNetwork, outcome(sandboxed), outcome(undefined)], profile)) {
        expect(typeof entry["default"]).toBe("boolean");
      }
    }
  });

  test("N1-54: exactly one entry is the default's, even if its result has several sandbox interfaces", () => {
    const withResult = { ...defaultNetwork, result: result(sandboxed) };
    for (const profile of [strict, compat]) {
      const all = status([withResult, outcome(sandboxed)], profile);
      expect(all.map((each) => each["default"]).filter(Boolean)).toHaveLength(1);
      expect(all[0]).toMatchObject({ interface: "net1", default: true });
    }
  });

  test.each([[[]], [[outcome({})]], [[defaultNetwork, defaultNetwork]]])(
    "N1-54: no or two default networks are a defect of the caller",
    (list) => {
      expect(networkStatus(list, strict)).toMatchObject({ ok: false, fault: { kind: "INTERNAL" } });
    },
  );
});

describe("the keys", () => {
  const specified = ["name", "interface", "ips", "mac", "default", "dns", "default-route", "device-info"];

  test("N1-42: with profile strict, every key is the specification's", () => {
    const printed = {
      ...sandboxed,
      routes: [{ dst: "::/0", gw: "fe80::1" }],
      dns: { nameservers: ["192.0.2.53"], options: ["x"] },
    };
    const [entry] = entries(printed, strict, { defaultRoute: [], deviceInfo: { type: "pci" } });
    for (const key of Object.keys(entry ?? {})) expect(specified).toContain(key);
    expect(entry?.["dns"]).toEqual({ nameservers: ["192.0.2.53"] });
  });

  test("D-06: with profile compat, entries also have gateway and mtu", () => {
    const [entry] = entries(
      {
        ...sandboxed,
        routes: [
          { dst: "::/0", gw: "fe80::1" },
          { dst: "10.0.0.0/8", gw: "192.0.2.9" },
        ],
      },
      compat,
    );
    expect(entry).toMatchObject({ gateway: ["fe80::1"], mtu: 1450 });
  });

  test("N1-43: every entry has a name; an attachment without one is a defect of the caller", () => {
    expect(networkStatus([defaultNetwork, outcome({}, { network: "" })], strict)).toMatchObject({
      ok: false,
      fault: { kind: "INTERNAL" },
    });
  });

  test("N12-03: the name of a definition's network has the namespace", () => {
    expect(entries({})[0]).toMatchObject({ name: "ns/net-a" });
  });

  test("N1-33: the same network twice has two entries", () => {
    const all = status([defaultNetwork, outcome(sandboxed), outcome(sandboxed, { ifname: "net2" })]);
    expect(all.map((each) => each["name"])).toEqual(["cluster", "ns/net-a", "ns/net-a"]);
  });

  test("N1-44: interface is the name in the result, not the requested name", () => {
    expect(entries(sandboxed, strict, { ifname: "other" })[0]).toMatchObject({ interface: "net1" });
  });

  test("N1-46: ips are those of the first sandbox interface", () => {
    const printed = {
      interfaces: [{ name: "veth1" }, { name: "net1", sandbox: "/n" }],
      ips: [
        { address: "192.0.2.1/24", interface: 0 },
        { address: "192.0.2.2/24", interface: 1 },
      ],
    };
    expect(entries(printed)[0]?.["ips"]).toEqual(["192.0.2.2/24"]);
    expect(entries(printed, compat)[0]?.["ips"]).toEqual(["192.0.2.2"]);
  });

  test("N1-47: without a sandbox interface, ips are those without an interface index or with a negative one", () => {
    const ips = [
      { address: "192.0.2.2/24" },
      { address: "192.0.2.3/24", interface: -1 },
      { address: "192.0.2.1/24", interface: 0 },
    ];
    expect(entries({ ips })[0]?.["ips"]).toEqual(["192.0.2.2/24", "192.0.2.3/24"]);
    expect(entries({ ips, interfaces: [{ name: "veth1" }] })[0]?.["ips"]).toEqual(["192.0.2.2/24", "192.0.2.3/24"]);
    expect(entries({ ips, interfaces: [{ name: "x", sandbox: "" }] })[0]).not.toHaveProperty("interface");
  });

  test("N1-48: addresses of host interfaces are not in ips", () => {
    const printed = { interfaces: [{ name: "veth1" }], ips: [{ address: "192.0.2.1/24", interface: 0 }] };
    for (const profile of [strict, compat]) expect(entries(printed, profile)[0]).not.toHaveProperty("ips");
  });

  test("N1-50, D-05: addresses have their prefix length with profile strict, and not with compat", () => {
    expect(entries(sandboxed, strict)[0]?.["ips"]).toEqual(["192.0.2.2/24", "2001:db8::2/32"]);
    expect(entries(sandboxed, compat)[0]?.["ips"]).toEqual(["192.0.2.2", "2001:db8::2", "203.0.113.2"]);
  });

  test("N1-52: mac is the first sandbox interface's", () => {
    expect(entries(sandboxed)[0]).toMatchObject({ mac: "02:00:00:00:00:02" });
    expect(
      entries({
        interfaces: [
          { name: "a", mac: "02:00:00:00:00:01" },
          { name: "b", sandbox: "/n" },
        ],
      })[0],
    ).not.toHaveProperty("mac");
  });

  test("N1-55: dns is the result's, and is left out if empty", () => {
    const dns = { nameservers: ["192.0.2.53"], domain: "d", search: ["s"] };
    expect(entries({ dns })[0]?.["dns"]).toEqual(dns);
    expect(entries({ dns: { search: ["s"] } })[0]?.["dns"]).toEqual({ search: ["s"] });
    for (const profile of [strict, compat]) expect(entries({ dns: {} }, profile)[0]).not.toHaveProperty("dns");
    expect(entries({ dns: { options: ["o"] } })[0]).not.toHaveProperty("dns");
  });

  test("N11-16: default-route is there if the selection had the key: its gateways, else those of the network", () => {
    const printed = {
      routes: [
        { dst: "0.0.0.0/0", gw: "192.0.2.1" },
        { dst: "::/0", gw: "fe80::1" },
        { dst: "0.0.0.0/0", gw: "192.0.2.1" },
      ],
    };
    for (const profile of [strict, compat]) {
      expect(entries(printed, profile)[0]).not.toHaveProperty("default-route");
      expect(entries(printed, profile, { defaultRoute: ["192.0.2.9"] })[0]).toMatchObject({ "default-route": ["192.0.2.9"] });
      expect(entries(printed, profile, { defaultRoute: [] })[0]).toMatchObject({ "default-route": ["192.0.2.1", "fe80::1"] });
    }
  });

  test("N11-16: a default route without a gateway has the gateway of its family's address", () => {
    const printed = {
      ips: [
        { address: "192.0.2.2/24", gateway: "192.0.2.1" },
        { address: "2001:db8::2/64", gateway: "2001:db8::1" },
      ],
      routes: [{ dst: "0.0.0.0/0" }, { dst: "::/0" }, { dst: "10.0.0.0/8" }],
    };
    expect(entries(printed, strict, { defaultRoute: [] })).toMatchObject([{ "default-route": ["192.0.2.1", "2001:db8::1"] }]);
    expect(entries({ routes: [{ dst: "0.0.0.0/0" }] }, strict, { defaultRoute: [] })).toMatchObject([{ "default-route": [] }]);
  });

  test("N11-16: gateways are those of the main table's default routes, in any spelling of the destination", () => {
    const routes = [
      { dst: "0.0.0.0/0", gw: "192.0.2.7", table: 100 },
      { dst: "192.0.2.0/0", gw: "192.0.2.1" },
      { dst: "::/0", gw: "fe80::1", table: 254 },
    ];
    const [entry] = entries({ routes }, compat, { defaultRoute: [] });
    expect(entry).toMatchObject({ "default-route": ["192.0.2.1", "fe80::1"], gateway: ["192.0.2.1", "fe80::1"] });
  });

  test("N12-04: device-info is passed on", () => {
    const deviceInfo = { type: "pci", version: "1.1.0", pci: { "pci-address": "0000:18:02.5" } };
    expect(entries({}, strict, { deviceInfo })[0]).toMatchObject({ "device-info": deviceInfo });
  });

  test("D-12: with profile compat, each sandbox interface has an entry with its own addresses", () => {
    expect(entries(sandboxed, compat)).toMatchObject([
      { interface: "net1", ips: ["192.0.2.2", "2001:db8::2", "203.0.113.2"] },
      { interface: "net1b", ips: ["198.51.100.2"], mac: "02:00:00:00:00:03" },
    ]);
    expect(entries(sandboxed, strict)).toHaveLength(1);
  });

  test("MA-10: the text is compact, and 16 attachments stay far below Kubernetes' limit", () => {
    const text = networkStatus([defaultNetwork, ...Array.from({ length: 16 }, () => outcome(sandboxed))], compat);
    expect(text.ok ? text.value : "").not.toMatch(/\s/);
    expect(text.ok ? text.value.length : 0).toBeLessThan(16_384);
  });

  test("MA-10: a status beyond Kubernetes' limit is refused", () => {
    const huge = outcome({ dns: { search: ["ä".repeat(140_000)] } });
    expect(networkStatus([defaultNetwork, huge], compat)).toMatchObject({
      ok: false,
      fault: { kind: "RESULT_INVALID", msg: expect.stringContaining("Kubernetes allows 262144") },
    });
  });

  test("N1-51: for all results, mac implies interface, one entry is the default, and ips are of sandbox interfaces", () => {
    const link = record(
      { name: constantFrom("a", "b", ""), mac: constantFrom("02:00:00:00:00:01", ""), sandbox: constantFrom("/n", "") },
      { requiredKeys: ["name"] },
    );
    const ip = record(
      { address: constantFrom("192.0.2.1/24", "2001:db8::1/64"), interface: integer({ min: -2, max: 4 }) },
      { requiredKeys: ["address"] },
    );
    const printed = record({ interfaces: array(link, { maxLength: 4 }), ips: array(ip, { maxLength: 4 }) });
    const ofDefault = option(printed, { nil: undefined });
    assert(
      property(ofDefault, array(printed, { maxLength: 3 }), constantFrom(strict, compat), (first, others, profile) => {
        const withResult = { ...defaultNetwork, result: first === undefined ? undefined : result(first) };
        const all = status([withResult, ...others.map((each) => outcome(each))], profile);
        expect(all.filter((each) => each["default"] === true)).toHaveLength(1);
        expect(all.filter((each) => "mac" in each && !("interface" in each))).toEqual([]);
        expect(all.filter((each) => each["interface"] === "")).toEqual([]);
        expect(all.filter((each) => typeof each["default"] !== "boolean" || each["name"] === "")).toEqual([]);
        expect(all.length).toBeGreaterThan(others.length);
      }),
    );
  });
});
