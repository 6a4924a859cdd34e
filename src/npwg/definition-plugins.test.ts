// The check of a definition's native plugins: types, keys, values, IPAM, and spellings that only Go's decoder takes for a key.

import { describe, expect, test } from "vitest";
import type { DefinitionRule } from "../configuration/keys/definition-keys.ts";
import { parsePluginConf } from "../cni/network-list.ts";
import { broughtResultRefusal, delegatedPluginRefusal, nativePluginRefusal } from "./definition-plugins.ts";

const definition = { namespace: "team-a", name: "net" };
const empty: DefinitionRule = { namespaces: ["team-a"], native: {}, ipam: {}, grants: {}, files: [], pools: [] };

const isComponent = (type: string): boolean => type === "ipam-host-local";

function refused(configuration: object, ...rules: readonly Partial<DefinitionRule>[]): string {
  const policy = { rules: rules.map((rule) => ({ ...empty, ...rule })) };
  const plugin = { type: "macvlan", configuration: { type: "macvlan", ...configuration }, isComponent };
  return nativePluginRefusal(policy, definition, plugin)?.msg ?? "";
}

const macvlan = { macvlan: { master: ["eth1", "ens*"], mtu: [1400, 9000], mode: "*" } } as const;

describe("a native plugin", () => {
  test("is refused without a rule, and with a rule of another namespace", () => {
    expect(refused({})).toBe(
      'NetworkAttachmentDefinition team-a/net: native plugin "macvlan" is not allowed: no rule of definitions.rules allows it for namespace team-a (key native.macvlan)',
    );
    expect(refused({}, { native: { macvlan: "*" }, namespaces: ["team-b"] })).not.toBe("");
    expect(refused({}, { native: { macvlan: "*" } })).toBe("");
  });

  test.each([
    [{ master: "eth1" }, ""],
    [{ master: "ens5", mtu: 9000, mode: "private" }, ""],
    [{ master: "eth0" }, '"master" with the value "eth0"'],
    [{ mtu: 1500 }, '"mtu" with the value "1500"'],
    [{ mtu: "1400" }, '"mtu" with the value "1400"'],
    [{ linkInContainer: true }, 'key "linkInContainer"'],
    [{ master: ["eth1", "ens7"] }, ""],
    [{ master: ["eth1", "eth0"] }, '"master" with the value an array'],
    [{ master: { eth1: true } }, '"master" with the value an object'],
    [{ cniVersion: "1.0.0", name: "n", capabilities: { mac: true }, prevResult: {} }, ""],
    [{ runtimeConfig: { deviceID: "0000:00:01.0" } }, 'key "runtimeConfig"'],
  ])("with %j is refused because of: %j", (configuration, why) => {
    const message = refused(configuration, { native: macvlan });
    expect([message === "", message.includes(why)]).toEqual([why === "", true]);
  });

  test.each(["NAME", "Type", "IPAM", "PrevResult", "cniversion"])(
    "is refused with the key %s even if every configuration is allowed",
    (key) => {
      expect(refused({ [key]: "x" }, { native: { macvlan: "*" } })).toContain(`key "${key}" is a spelling of`);
    },
  );

  test("may have a listed key in the spellings that Go takes for it, with the same values", () => {
    expect(refused({ Master: "eth1" }, { native: macvlan })).toBe("");
    expect(refused({ master: "eth1", MASTER: "eth0" }, { native: macvlan })).toContain('"MASTER" with the value "eth0"');
  });

  test("is allowed if one of several rules allows the whole configuration", () => {
    const rules = [
      { native: { macvlan: { master: ["eth1"] } } },
      { native: { macvlan: { master: ["eth2"], mtu: "*" as const } } },
    ];
    expect(refused({ master: "eth2", mtu: 1 }, ...rules)).toBe("");
    expect(refused({ master: "eth1", mtu: 1 }, ...rules)).toContain('key "mtu"');
  });
});

describe("ipam of a native plugin", () => {
  const native = { macvlan: "*" } as const;

  test.each([
    [{ ipam: { type: "host-local", subnet: "10.0.0.0/24" } }, ""],
    [{ ipam: { type: "host-local", dataDir: "/etc/cron.d" } }, 'native IPAM plugin "host-local": key "dataDir"'],
    [{ ipam: { type: "dhcp" } }, 'native IPAM plugin "dhcp" is not allowed'],
    [{ ipam: { type: "ipam-host-local", anything: 1 } }, ""],
    [{ ipam: { type: "ipam-host-local", Type: "host-device" } }, 'key "Type" is a spelling of type'],
    [{ ipam: "host-local" }, "it is a string"],
    [{ ipam: { subnet: "10.0.0.0/24" } }, "ipam without a type"],
    [{ ipam: {} }, ""],
    [{ ipam: null }, ""],
  ])("%j is refused because of: %j", (configuration, why) => {
    const message = refused(configuration, { native, ipam: { "host-local": { subnet: "*" } } });
    expect([message === "", message.includes(why)]).toEqual([why === "", true]);
  });
});

describe("a native plugin that a delegate calls", () => {
  const policy = { rules: [{ ...empty, ipam: { "host-local": { subnet: "*" } } as const, native: { macvlan: "*" } as const }] };
  const delegated = (type: string, configuration: object): string =>
    delegatedPluginRefusal(policy, definition, { type, configuration: { ...configuration }, isComponent: () => false })?.msg ??
    "";

  test("needs the rule of its kind, with its keys", () => {
    expect(delegated("host-local", { ipam: { type: "host-local", subnet: "10.0.0.0/24" } })).toBe("");
    expect(delegated("host-local", { ipam: { type: "host-local", dataDir: "/x" } })).toContain('key "dataDir"');
    expect(delegated("host-local", { NAME: "pods", ipam: { type: "host-local" } })).toContain('key "NAME"');
    expect(delegated("host-device", { device: "eth0" })).toContain('native plugin "host-device" is not allowed');
    expect(delegated("host-device", { device: "eth0", ipam: { type: "host-device" } })).toContain("is not allowed");
    expect(delegated("macvlan", { master: "eth1" })).toBe("");
  });
});

/** The refusal of a definition with these plugins. */
function refusedResult(...plugins: readonly object[]) {
  const read = plugins.map((plugin) => {
    const conf = parsePluginConf(JSON.stringify(plugin), "the plugin");
    if (!conf.ok) throw new Error(conf.fault.msg);
    return conf.value;
  });
  return broughtResultRefusal(definition, read);
}

describe("a plugin's result that a definition brings", () => {
  test.each(["prevResult", "prevresult", "PREVRESULT"])("is refused under the key %s, in whichever plugin", (key) => {
    const refusal = refusedResult({ type: "bridge", mtu: 1400 }, { type: "portmap", snat: true, [key]: {} });
    expect(refusal).toMatchObject({
      kind: "DEFINITION_FORBIDDEN",
      msg: `NetworkAttachmentDefinition team-a/net: plugin "portmap": key "${key}" is not allowed: only Plexus sets it, so remove it`,
    });
  });

  test("is no other key", () => {
    expect(refusedResult({ type: "bridge", mtu: 1400, result: {} }, { type: "portmap" })).toBeUndefined();
  });
});
