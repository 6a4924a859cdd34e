import { describe, expect, test } from "vitest";

import { readResult } from "./read-result.ts";
import type { CniResult, PluginResult } from "./result.ts";

function read(text: string, version: "0.1.0" | "0.4.0" | "1.0.0" | "1.1.0" = "1.0.0"): PluginResult {
  const result = readResult(text, version);
  if (!result.ok) throw new Error(result.fault.msg);
  return result.value;
}

function meaning(fields: object): CniResult {
  return read(JSON.stringify(fields)).result;
}

function refusal(fields: object | string): string {
  const text = typeof fields === "string" ? fields : JSON.stringify({ cniVersion: "1.1.0", ...fields });
  const result = readResult(text, "1.0.0", "result of plugin p");
  return result.ok ? "accepted" : `${result.fault.code} ${result.fault.msg}`;
}

describe("the version of a result", () => {
  test("L-12: a result without a version gets the configuration's, also in its text", () => {
    expect(read('{"ips":[]}', "0.4.0")).toMatchObject({
      text: '{"ips":[],"cniVersion":"0.4.0"}',
      result: { cniVersion: "0.4.0" },
    });
    expect(read('{"cniVersion":"" }', "1.1.0").text).toBe('{"cniVersion":"1.1.0" }');
    expect(read('{"cniVersion":null}', "1.1.0").text).toBe('{"cniVersion":"1.1.0"}');
  });

  test("L-12: null is an empty result, empty output is no result", () => {
    expect(read(" null\n", "0.4.0")).toMatchObject({
      text: '{"cniVersion":"0.4.0"}',
      result: { interfaces: [], ips: [], routes: [] },
    });
    expect(refusal("")).toBe("6 result of plugin p is empty where a JSON object is expected");
  });

  test("L-12: a result may have another version than the configuration, and is read by its own version", () => {
    expect(read('{"cniVersion":"0.2.0","ip4":{"ip":"10.0.0.1/24"}}', "1.1.0").result).toMatchObject({
      cniVersion: "0.2.0",
      ips: [{ address: "10.0.0.1/24" }],
    });
  });

  test.each(["1.2.0", "1.0", "0.5.0", "constructor"])("L-51: a result of version %s is refused", (cniVersion) => {
    expect(refusal({ cniVersion })).toContain(`6 result of plugin p: unsupported CNI result version "${cniVersion}"`);
  });

  test("L-51: each group has its own shape; members of another shape are ignored", () => {
    const all = {
      ip4: { ip: "10.0.0.1/24" },
      ips: [{ address: "10.0.0.2/24" }],
      interfaces: [{ name: "eth0", mac: "m", sandbox: "/s", mtu: 1500, socketPath: "/k", pciID: "p" }],
    };
    expect(meaning({ cniVersion: "0.2.0", ...all })).toMatchObject({ ips: [{ address: "10.0.0.1/24" }], interfaces: [] });
    expect(meaning({ cniVersion: "0.4.0", ...all }).interfaces).toEqual([{ name: "eth0", mac: "m", sandbox: "/s" }]);
    expect(meaning({ cniVersion: "1.0.0", ...all })).toMatchObject({
      ips: [{ address: "10.0.0.2/24" }],
      interfaces: all.interfaces,
    });
  });
});

describe("the content of a result", () => {
  test("L-57: addresses become canonical and keep their host bits", () => {
    const result = meaning({
      cniVersion: "1.1.0",
      ips: [
        { address: "10.1.2.3/24", gateway: "::ffff:10.1.2.1", interface: 0 },
        { address: "2001:DB8::0:5/64", gateway: "FE80::1", interface: -1 },
        { address: "::ffff:10.0.0.1/120", gateway: "" },
      ],
      routes: [{ dst: "0.0.0.0/0" }, { dst: "::/0", gw: "fe80::0001", mtu: 0, advmss: 1, priority: 2, table: 0, scope: 253 }],
    });
    expect(result.ips).toEqual([
      { address: "10.1.2.3/24", gateway: "10.1.2.1", interface: 0 },
      { address: "2001:db8::5/64", gateway: "fe80::1", interface: -1 },
      { address: "10.0.0.1/24" },
    ]);
    expect(result.routes).toEqual([
      { dst: "0.0.0.0/0" },
      { dst: "::/0", gw: "fe80::1", advmss: 1, priority: 2, table: 0, scope: 253 },
    ]);
  });

  test("L-53: in 0.2.0 ip4 comes before ip6, with its routes", () => {
    const result = meaning({
      cniVersion: "0.2.0",
      ip6: { ip: "fd00::2/64", gateway: "fd00::1", routes: [{ dst: "::/0" }] },
      ip4: { ip: "10.0.0.2/24", routes: [{ dst: "0.0.0.0/0", gw: "10.0.0.1" }] },
      dns: { nameservers: ["10.0.0.1"] },
    });
    expect(result.ips).toEqual([{ address: "10.0.0.2/24" }, { address: "fd00::2/64", gateway: "fd00::1" }]);
    expect(result.routes).toEqual([{ dst: "0.0.0.0/0", gw: "10.0.0.1" }, { dst: "::/0" }]);
    expect(result.dns).toEqual({ nameservers: ["10.0.0.1"], search: [], options: [] });
  });

  test("null and an empty dns count as absent, as in Go", () => {
    const result = meaning({
      cniVersion: "1.1.0",
      interfaces: null,
      ips: [{ address: "10.0.0.1/8", gateway: null, interface: null }],
      routes: null,
      dns: { nameservers: null, domain: "", search: [] },
    });
    expect(result).toEqual({ cniVersion: "1.1.0", interfaces: [], ips: [{ address: "10.0.0.1/8" }], routes: [] });
  });

  test.each([
    ["[]", "must be a JSON object, but is an array"],
    ['{"cniVersion":5}', "cniVersion must be a string, but is a number"],
    ['{"cniVersion":"1.0.0"}garbage', "line 1, column 23: expected nothing after the value"],
    ['{"cniVersion":"1.0.0","ips":[],"ips":[]}', '"ips" twice'],
    [{ ips: {} }, "ips must be a list, but is an object"],
    [{ ips: [null] }, "ips[0] must be an object, but is null"],
    [{ ips: ["10.0.0.1/24"] }, "ips[0] must be an object, but is a string"],
    [{ ips: [{}] }, "ips[0].address must be an IP address with a prefix length, but is missing"],
    [{ ips: [{ address: "10.0.0.1" }] }, 'ips[0].address must be an IP address with a prefix length, but is "10.0.0.1"'],
    [{ ips: [{ address: "10.0.0.1/24" }, { address: "010.0.0.1/24" }] }, "ips[1].address must be an IP address"],
    [{ ips: [{ address: 5 }] }, "ips[0].address must be a string, but is a number"],
    [{ ips: [{ address: "10.0.0.1/24", gateway: "10.0.0.1/24" }] }, "ips[0].gateway must be an IP address"],
    [{ ips: [{ address: "10.0.0.1/24", interface: "0" }] }, "ips[0].interface must be an integer"],
    [{ ips: [{ address: "10.0.0.1/24", interface: 1.5 }] }, "ips[0].interface must be an integer"],
    [
      { ips: [{ address: "10.0.0.1/24", interface: 2 ** 31 }] },
      "ips[0].interface must be an integer from -2147483648 to 2147483647",
    ],
    [{ interfaces: [{ name: 5 }] }, "interfaces[0].name must be a string, but is a number"],
    [{ interfaces: [{ name: "a", mtu: -1 }] }, "interfaces[0].mtu must be an integer from 0 to 4294967295"],
    [{ interfaces: [{ name: "a", mac: [] }] }, "interfaces[0].mac must be a string, but is an array"],
    [{ routes: [{ dst: "default" }] }, 'routes[0].dst must be an IP address with a prefix length, but is "default"'],
    [{ routes: [{ dst: "::/0", gw: "fe80::1%eth0" }] }, 'routes[0].gw must be an IP address, but is "fe80::1%eth0"'],
    [{ routes: [{ dst: "::/0", table: "main" }] }, "routes[0].table must be an integer"],
    [{ dns: [] }, "dns must be an object, but is an array"],
    [{ dns: { nameservers: "10.0.0.1" } }, "dns.nameservers must be a list, but is a string"],
    [{ dns: { search: ["a", 1] } }, "dns.search[1] must be a string, but is a number"],
    [
      { cniVersion: "0.4.0", ips: [{ version: "4", address: "fd00::1/64" }] },
      'ips[0].version is "4", but ips[0].address is fd00::1/64',
    ],
    [{ cniVersion: "0.4.0", ips: [{ version: 4, address: "10.0.0.1/24" }] }, "ips[0].version must be a string, but is a number"],
    [{ cniVersion: "0.2.0", ip4: { ip: "fd00::1/64" } }, "ip4.ip must be an IPv4 address with a prefix length"],
    [{ cniVersion: "0.2.0", ip6: [] }, "ip6 must be an object, but is an array"],
    [{ cniVersion: "0.2.0", ip4: { ip: "10.0.0.1/8", routes: [{}] } }, "ip4.routes[0].dst must be an IP address"],
  ])("A-07: %j is refused with 6, and the field is named", (fields, message) => {
    const refused = refusal(fields);
    expect(refused).toMatch(/^6 result of plugin p/);
    expect(refused).toContain(message);
  });

  test("A-04: an inherited member is not a field of a result", () => {
    const result = read(
      '{"cniVersion":"1.1.0","__proto__":{"ips":[{"address":"10.0.0.1/8"}]},"ips":[{"address":"10.0.0.2/8","constructor":1}]}',
    );
    expect(result.result.ips).toEqual([{ address: "10.0.0.2/8" }]);
  });

  test("A-07: an error object with exit status 0 is not an empty success", () => {
    expect(refusal({ code: 11, msg: "try later" })).toContain(
      'is an error although the plugin ended with success: code 11: "try later"',
    );
    expect(refusal({ code: 11, msg: "x", ips: [] })).toBe("accepted");
  });

  test("A-06: 5000 addresses are read", () => {
    const ips = Array.from({ length: 5000 }, (_, index) => ({ address: `10.0.${index >> 8}.${index & 255}/16` }));
    expect(meaning({ cniVersion: "1.1.0", ips }).ips).toHaveLength(5000);
  });

  test("L-19: the text is passed on unchanged", () => {
    const text = '{ "ips" : [ ], "x":9007199254740993,"cniVersion":"0.4.0", "y":1e400 }';
    expect(read(`\n${text}\n`).text).toBe(text);
  });
});
