import * as fc from "fast-check";
import { describe, expect, test } from "vitest";

import { convertResult, printResult } from "./convert-result.ts";
import { readResult } from "./read-result.ts";
import type { CniResult, PluginResult } from "./result.ts";
import { type CniVersion, SUPPORTED_VERSIONS, versionGroup } from "./versions.ts";

const full: CniResult = {
  cniVersion: "1.1.0",
  interfaces: [{ name: "eth0", mac: "0a:00:00:00:00:01", mtu: 1400, sandbox: "/n", socketPath: "/k", pciID: "0000:00:01.0" }],
  ips: [
    { address: "10.0.0.2/24", gateway: "10.0.0.1", interface: 0 },
    { address: "10.0.1.2/24" },
    { address: "fd00::2/64", gateway: "fd00::1" },
  ],
  routes: [
    { dst: "::/0", gw: "fd00::1", mtu: 1300 },
    { dst: "0.0.0.0/0", gw: "10.0.0.1", mtu: 1300, advmss: 1200, priority: 5, table: 100, scope: 0 },
  ],
  dns: { nameservers: ["10.0.0.1"], domain: "x", search: ["a", "b"], options: ["ndots:5"] },
};

function printed(result: CniResult, version: CniVersion): Record<string, unknown> {
  const text = printResult(result, version);
  if (!text.ok) throw new Error(text.fault.msg);
  return JSON.parse(text.value);
}

function plugin(fields: object): PluginResult {
  const read = readResult(JSON.stringify(fields), "0.1.0");
  if (!read.ok) throw new Error(read.fault.msg);
  return read.value;
}

function converted(from: PluginResult, version: string): PluginResult {
  const result = convertResult(from, version);
  if (!result.ok) throw new Error(result.fault.msg);
  return result.value;
}

describe("conversion", () => {
  test.each([
    ["1.1.0", "1.0.0"],
    ["0.3.0", "0.4.0"],
    ["0.1.0", "0.2.0"],
  ])("L-52: from %s to %s and back only the label changes, and unknown keys and numbers stay", (from, to) => {
    const text = `{ "cniVersion" : "${from}", "ips":[], "x" : 9007199254740993,"dns":{} }`;
    const read = readResult(text, "0.1.0");
    if (!read.ok) throw new Error(read.fault.msg);
    const relabelled = converted(read.value, to);
    expect(relabelled.text).toBe(text.replace(from, to));
    expect(relabelled.result.cniVersion).toBe(to);
    expect(converted(relabelled, from)).toEqual(read.value);
  });

  test("L-52: 1.0.0 keeps the fields of 1.1.0", () => {
    expect(printed(full, "1.0.0")).toEqual({ ...full, cniVersion: "1.0.0" });
  });

  test("L-53: 0.2.0 becomes 0.4.0 and 1.1.0, with versions only in the former", () => {
    const old = plugin({
      cniVersion: "0.2.0",
      ip6: { ip: "fd00::2/64", routes: [{ dst: "::/0" }] },
      ip4: { ip: "10.0.0.2/24", gateway: "10.0.0.1", routes: [{ dst: "0.0.0.0/0", mtu: 1200 }] },
    });
    const ips = [{ address: "10.0.0.2/24", gateway: "10.0.0.1" }, { address: "fd00::2/64" }];
    const routes = [{ dst: "0.0.0.0/0", mtu: 1200 }, { dst: "::/0" }];
    expect(JSON.parse(converted(old, "1.1.0").text)).toEqual({ cniVersion: "1.1.0", ips, routes });
    expect(JSON.parse(converted(old, "0.4.0").text)).toEqual({
      cniVersion: "0.4.0",
      ips: ips.map((ip, index) => ({ version: index === 0 ? "4" : "6", ...ip })),
      routes,
      dns: {},
    });
  });

  test("L-54: to 0.4.0 addresses get their version, interfaces keep three fields, routes keep all", () => {
    const old = printed(full, "0.4.0");
    expect(old["interfaces"]).toEqual([{ name: "eth0", mac: "0a:00:00:00:00:01", sandbox: "/n" }]);
    expect(old["ips"]).toEqual([
      { version: "4", ...full.ips[0] },
      { version: "4", ...full.ips[1] },
      { version: "6", ...full.ips[2] },
    ]);
    expect(old["routes"]).toEqual(full.routes);
  });

  test("L-54: from 0.4.0 the addresses' versions are dropped", () => {
    const old = plugin({ cniVersion: "0.4.0", ips: [{ version: "4", address: "10.0.0.2/24" }] });
    expect(JSON.parse(converted(old, "1.0.0").text)).toEqual({ cniVersion: "1.0.0", ips: [{ address: "10.0.0.2/24" }] });
  });

  test("L-55: to 0.2.0 the first address of each family stays, with dst and gw of its routes", () => {
    expect(printed(full, "0.2.0")).toEqual({
      cniVersion: "0.2.0",
      ip4: { ip: "10.0.0.2/24", gateway: "10.0.0.1", routes: [{ dst: "0.0.0.0/0", gw: "10.0.0.1" }] },
      ip6: { ip: "fd00::2/64", gateway: "fd00::1", routes: [{ dst: "::/0", gw: "fd00::1" }] },
      dns: full.dns,
    });
  });

  test("L-55: routes of a family without an address are dropped", () => {
    const { ip4, ip6 } = printed({ ...full, ips: [{ address: "fd00::2/64" }] }, "0.1.0");
    expect([ip4, ip6]).toEqual([undefined, { ip: "fd00::2/64", routes: [{ dst: "::/0", gw: "fd00::1" }] }]);
  });

  test("L-55: a result without any address has no form in 0.2.0", () => {
    const result = convertResult(plugin({ cniVersion: "1.1.0", interfaces: [{ name: "a" }] }), "0.2.0");
    expect(!result.ok && [result.fault.code, result.fault.msg]).toEqual([6, "cannot convert: no valid IP addresses"]);
  });

  test("L-56: there is no converter to an unknown version; empty means 0.1.0", () => {
    const from = plugin({ cniVersion: "1.1.0", ips: [{ address: "10.0.0.1/8" }] });
    const result = convertResult(from, "7.0.0");
    expect(!result.ok && [result.fault.code, result.fault.msg]).toEqual([
      1,
      "no converter for CNI result version 1.1.0 to 7.0.0",
    ]);
    expect(converted(from, "").result.cniVersion).toBe("0.1.0");
  });

  test("L-57: empty lists are left out; an empty dns is printed before 1.0.0 and left out from then on", () => {
    const nothing: CniResult = { cniVersion: "1.1.0", interfaces: [], ips: [], routes: [] };
    expect(printed(nothing, "1.1.0")).toEqual({ cniVersion: "1.1.0" });
    expect(printed(nothing, "0.3.0")).toEqual({ cniVersion: "0.3.0", dns: {} });
    expect(printed({ ...nothing, ips: [{ address: "10.0.0.1/8" }] }, "0.1.0")).toEqual({
      cniVersion: "0.1.0",
      ip4: { ip: "10.0.0.1/8" },
      dns: {},
    });
  });
});

const u32 = fc.integer({ min: 1, max: 0xffff_ffff });
const address = fc.oneof(
  fc.tuple(fc.ipV4(), fc.integer({ min: 0, max: 32 })).map(([ip, bits]) => `${ip}/${bits}`),
  fc.tuple(fc.ipV6(), fc.integer({ min: 96, max: 128 })).map(([ip, bits]) => `${ip}/${bits}`),
);
const gateway = fc.oneof(fc.ipV4(), fc.ipV6());
const text = fc.string({ minLength: 1, unit: "binary", maxLength: 8 });
const anyResult = fc
  .record({
    interfaces: fc.array(
      fc.record(
        { name: fc.string(), mac: text, mtu: u32, sandbox: text, socketPath: text, pciID: text },
        { requiredKeys: ["name"] },
      ),
      { maxLength: 3 },
    ),
    ips: fc.array(fc.record({ address, gateway, interface: fc.integer({ min: -1, max: 3 }) }, { requiredKeys: ["address"] }), {
      maxLength: 4,
    }),
    routes: fc.array(
      fc.record(
        { dst: address, gw: gateway, mtu: u32, advmss: u32, priority: u32, table: u32, scope: u32 },
        { requiredKeys: ["dst"] },
      ),
      { maxLength: 3 },
    ),
    dns: fc.record({ nameservers: fc.array(text), domain: text, search: fc.array(text), options: fc.array(text) }),
  })
  .map((fields) => plugin({ cniVersion: "1.1.0", ...fields }));
const version = fc.constantFrom(...SUPPORTED_VERSIONS);

describe("round trips", () => {
  test("X-8, L-51 to L-57: the converted result equals its own text", () => {
    fc.assert(
      fc.property(anyResult, version, version, (from, first, second) => {
        fc.pre(from.result.ips.length > 0);
        for (const each of [converted(from, first), converted(converted(from, first), second)]) {
          const again = readResult(each.text, "0.1.0");
          expect(again).toEqual({ ok: true, value: each });
        }
      }),
      { numRuns: 200 },
    );
  });

  test("L-54: from 1.1.0 to 0.4.0 and back, only mtu, socketPath and pciID of interfaces are lost", () => {
    fc.assert(
      fc.property(anyResult, (from) => {
        const back = converted(converted(from, "0.4.0"), "1.1.0").result;
        const lost = new Set(["mtu", "socketPath", "pciID"]);
        const interfaces = from.result.interfaces.map((each) =>
          Object.fromEntries(Object.entries(each).filter(([key]) => !lost.has(key))),
        );
        expect(back).toEqual({ ...from.result, interfaces });
      }),
      { numRuns: 200 },
    );
  });

  test("L-55: a second conversion to 0.2.0 changes nothing", () => {
    fc.assert(
      fc.property(anyResult, version, (from, way) => {
        fc.pre(from.result.ips.length > 0);
        const once = converted(from, "0.2.0");
        expect(converted(converted(once, way), "0.2.0").result).toEqual(once.result);
        expect(versionGroup(once.result.cniVersion)).toBe("020");
      }),
      { numRuns: 200 },
    );
  });
});
