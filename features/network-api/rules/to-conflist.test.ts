import { expect, test } from "vitest";
import { parseNetworkList } from "../../../src/cni/network-list.ts";
import { fromConflist } from "./from-conflist.ts";
import { networkMessage, readNetworkConfig } from "./network-config.ts";
import { toConflist } from "./to-conflist.ts";

const metadata = { name: "blue", namespace: "", uid: "", generation: 1 };

/** The list of a message with these plugins. */
function listOf(plugins: readonly object[], ranges: readonly string[] = []) {
  const message = {
    metadata,
    ip_ranges: ranges.map((cidr) => ({ cidr })),
    network_type: "CNIv1",
    cniv1_config: { cni_version: "1.0.0", network_name: "net", disable_check: true, plugins },
  };
  const config = readNetworkConfig(message);
  return config.ok ? toConflist(config.value) : config;
}

const bridgeWith = (ipam: object): object => ({ type: "bridge", parameters: { ipam: JSON.stringify(ipam) } });
const text = (result: ReturnType<typeof listOf>): string => (result.ok ? result.value.list.text : result.fault.msg);

test("CR-05: capabilities and parameters become keys of the plugin; a parameter that is JSON keeps its type", () => {
  const plugin = {
    type: "bridge",
    capabilities: ["portMappings", "portMappings"],
    parameters: {
      mtu: "1400",
      bridge: "br0",
      vlan: '"7"',
      big: "12345678901234567890",
      list: " [1, 2] ",
      zero: "007",
      empty: "",
    },
  };
  expect(text(listOf([plugin]))).toBe(
    '{"cniVersion":"1.0.0","name":"net","disableCheck":true,"loadOnlyInlinedPlugins":true,"plugins":[{"type":"bridge",' +
      '"capabilities":{"portMappings":true},"big":12345678901234567890,"bridge":"br0","empty":"","list":[1, 2],"mtu":1400,"vlan":"7","zero":"007"}]}',
  );
});

test.each([
  ["a second value behind the first", '1,"type":"x"', '"1,\\"type\\":\\"x\\""'],
  ["a closing brace", "1}", '"1}"'],
  ["a comment", "1/**/", '"1/**/"'],
])("%s in a parameter stays inside a string", (_, parameter, json) => {
  expect(text(listOf([{ type: "a", parameters: { key: parameter } }]))).toContain(`{"type":"a","key":${json}}`);
});

test("a parameter with the name __proto__ is a key like any other", () => {
  const parameters: unknown = JSON.parse('{"__proto__":"{\\"type\\":\\"evil\\"}"}');
  const list = listOf([{ type: "a", parameters }]);
  expect(text(list)).toContain('"__proto__":{"type":"evil"}');
  expect(list.ok && list.value.list.plugins[0]?.type).toBe("a");
});

test.each([
  ["Plexus", [{ type: "multus" }], "is Plexus itself"],
  ["Plexus within a parameter", [{ type: "a", parameters: { delegate: '{"Type":"plexus"}' } }], "is Plexus itself"],
  ["a path as type", [{ type: "../sh" }], "not the name of a plugin"],
  ["no type", [{}], "missing 'type'"],
  ["a reserved key in another case", [{ type: "a", parameters: { PrevResult: "{}" } }], "is reserved"],
  ["an impossible capability", [{ type: "a", capabilities: ['x":true'] }], "not the name of a capability"],
])("refuses %s", (_, plugins, why) => {
  const refused = listOf(plugins);
  expect(refused).toMatchObject({ ok: false, fault: { kind: "NETWORK_CONFIG_INVALID", msg: expect.stringContaining(why) } });
});

test("ranges go into an ipam of host-local that names no addresses, one set for each family; otherwise there is a warning", () => {
  const ranges = ["10.1.0.0/16", "fd00::/64", "10.2.0.0/16"];
  const filled = listOf([bridgeWith({ type: "host-local" })], ranges);
  expect(text(filled)).toContain(
    '"ipam":{"type":"host-local","ranges":[[{"subnet":"10.1.0.0/16"},{"subnet":"10.2.0.0/16"}],[{"subnet":"fd00::/64"}]]}',
  );
  expect(filled).toMatchObject({ value: { warnings: [] } });
  for (const ipam of [{ type: "dhcp" }, { type: "host-local", subnet: "10.9.0.0/24" }]) {
    const kept = listOf([bridgeWith(ipam)], ranges);
    expect(kept).toMatchObject({ value: { warnings: [expect.stringContaining("ip_ranges has no effect")] } });
    expect(text(kept)).toContain(JSON.stringify(ipam));
  }
});

test("a list that becomes a network and a list again gives its plugins the same keys", () => {
  const plugins = [
    {
      type: "bridge",
      mtu: 1400,
      vlan: "5",
      name: "own",
      isGateway: true,
      ipam: { type: "host-local", ranges: [[{ subnet: "10.0.0.0/8" }]] },
    },
    { type: "portmap", capabilities: { portMappings: true, off: false }, snat: true, text: "plain", nothing: null },
  ];
  const list = parseNetworkList(JSON.stringify({ cniVersion: "1.0.0", name: "disk", plugins }));
  if (!list.ok) throw new Error(list.fault.msg);
  const config = fromConflist(metadata, list.value);
  const again = readNetworkConfig(networkMessage(config));
  const translated = again.ok ? toConflist(again.value) : again;
  const [bridge, portmap] = translated.ok ? translated.value.list.plugins.map(({ document }) => document.parsed) : [];
  const { name: _, ...expected } = plugins[0] ?? {};
  expect(bridge).toEqual(expected);
  expect(portmap).toEqual({ ...plugins[1], capabilities: { portMappings: true } });
});
