import { describe, expect, test } from "vitest";

import { editMembers, memberText } from "../json/document.ts";
import {
  listOfOne,
  type NetworkList,
  parseNetworkList,
  parsePluginConf,
  selfContainedText,
  withoutTypes,
} from "./network-list.ts";

function load(text: string): NetworkList {
  const list = parseNetworkList(text, "list");
  if (!list.ok) throw new Error(list.fault.msg);
  return list.value;
}

function refusal(text: string): readonly [number, string] | "accepted" {
  const list = parseNetworkList(text, "list");
  return list.ok ? "accepted" : [list.fault.code, list.fault.msg];
}

function withMember(member: string): string {
  return `{"name":"n","cniVersion":"1.0.0","plugins":[{"type":"a"}],${member}}`;
}

function withPlugin(plugin: string): string {
  return `{"name":"n","cniVersion":"1.0.0","plugins":[{"type":"first"},${plugin}]}`;
}

describe("a list", () => {
  test("L-15: name, version and plugins are read", () => {
    const text =
      '{"cniVersion":"1.1.0","name":"n","plugins":[{"type":"bridge","ipam":{"type":"host-local"}},{"type":"tuning","name":"t"}]}';
    const list = load(text);
    expect(list).toMatchObject({ name: "n", cniVersion: "1.1.0", disableCheck: false, disableGC: false, text, inlined: 2 });
    expect(list.plugins.map(({ type, name, ipamType }) => [type, name, ipamType])).toEqual([
      ["bridge", "", "host-local"],
      ["tuning", "t", undefined],
    ]);
  });

  test("L-15: a list without cniVersion has none", () => {
    expect(load('{"name":"n","plugins":[{"type":"a"}]}').cniVersion).toBe("");
  });

  test.each([
    ["", 6, "list is empty"],
    ["{", 6, "list is not JSON: line 1, column 2"],
    ["[]", 6, "list must be a JSON object, but is an array"],
    ["{}", 7, "list: no name"],
    ['{"name":5}', 7, "list: name must be a string, but is a number"],
    ['{"name":null}', 7, "list: name must be a string, but is null"],
    ['{"name":""}', 7, "list: missing network name"],
    ['{"name":"n","cniVersion":1}', 7, "list: cniVersion must be a string, but is a number"],
    ['{"__proto__":{"name":"n"},"plugins":[{"type":"a"}]}', 7, "list: no name"],
    ['{"name":"n","plugins":[{"type":"a"}],"plugins":[{"type":"b"}]}', 6, '"plugins" twice'],
  ])("L-15: %j is refused with %d and names the field", (text, code, message) => {
    expect(refusal(text)).toEqual([code, expect.stringContaining(message)]);
  });

  test.each(["../../etc/x", "a/b", "..", "a\\u0000b", "a\\nb", "a b"])("L-21: the name %j never becomes a path", (name) => {
    expect(refusal(`{"name":"${name}","plugins":[{"type":"a"}]}`)).toEqual([7, expect.stringContaining("network name")]);
  });

  test.each([
    ['"cniVersions":"1.0.0"', "cniVersions must be a list of strings, but is a string"],
    ['"cniVersions":{}', "cniVersions must be a list of strings, but is an object"],
    ['"cniVersions":[1]', "cniVersions[0] must be a string, but is a number"],
    ['"cniVersions":["1.0.0",null]', "cniVersions[1] must be a string, but is null"],
    ['"cniVersions":["1.0.0.0"]', 'cniVersions: invalid version "1.0.0.0": too many parts'],
  ])("L-16: %s is refused", (member, message) => {
    expect(refusal(withMember(member))).toEqual([7, `list: ${message}`]);
  });

  test("L-16: the highest supported version wins", () => {
    expect(load(withMember('"cniVersions":["0.4.0","1.1.0","1.2.0"]')).cniVersion).toBe("1.1.0");
  });

  describe.each(["disableCheck", "disableGC", "loadOnlyInlinedPlugins"] as const)("%s", (key) => {
    test.each([
      ["true", true],
      ["false", false],
      ['"true"', true],
      ['"TRUE"', true],
      ['"False"', false],
    ])("L-17: %s is %j", (text, expected) => {
      expect(load(withMember(`"${key}":${text}`))[key]).toBe(expected);
    });

    test.each(["1", "null", '"yes"', '""', "[]"])("L-17: %s is refused by name", (text) => {
      expect(refusal(withMember(`"${key}":${text}`))).toEqual([7, expect.stringContaining(`list: ${key} must be true or false`)]);
    });
  });

  test("L-18: a list without plugins is read, unless loadOnlyInlinedPlugins is true", () => {
    expect(load('{"name":"n"}').plugins).toEqual([]);
    expect(refusal('{"name":"n","loadOnlyInlinedPlugins":true}')).toEqual([
      7,
      "list: `loadOnlyInlinedPlugins` is true, and no 'plugins' key",
    ]);
  });

  test.each([
    ['"plugins":[]', "list: no plugins in list"],
    ['"plugins":{}', "list: plugins must be a list, but is an object"],
    ['"plugins":null', "list: plugins must be a list, but is null"],
    ['"plugins":"bridge"', "list: plugins must be a list, but is a string"],
  ])("L-18: %s is refused", (member, message) => {
    expect(refusal(`{"name":"n",${member}}`)).toEqual([7, message]);
  });
});

describe("a plugin of a list", () => {
  test.each([
    ["null", 6, "plugins[1] must be a JSON object, but is null"],
    ['"bridge"', 6, "plugins[1] must be a JSON object, but is a string"],
    ["{}", 7, "plugins[1]: missing 'type'"],
    ['{"type":""}', 7, "plugins[1]: missing 'type'"],
    ['{"type":5}', 7, "plugins[1]: type must be a string, but is a number"],
    ['{"type":"a","name":5}', 7, "plugins[1]: name must be a string, but is a number"],
    ['{"type":"a","cniVersion":{}}', 7, "plugins[1]: cniVersion must be a string, but is an object"],
    ['{"type":"a","capabilities":["mac"]}', 7, "plugins[1]: capabilities must be an object, but is an array"],
    ['{"type":"a","capabilities":{"mac":"true"}}', 7, 'plugins[1]: capabilities."mac" must be true or false, but is a string'],
    ['{"type":"a","ipam":"x"}', 7, "plugins[1]: ipam must be an object, but is a string"],
    ['{"type":"a","ipam":{"type":1}}', 7, "plugins[1]: ipam.type must be a string, but is a number"],
  ])("L-18: %s is refused with %d and names the field", (plugin, code, message) => {
    expect(refusal(withPlugin(plugin))).toEqual([code, `list: ${message}`]);
  });

  test.each(["../../bin/sh", "/bin/sh", "a/b", ".", "..", "a\\u0000"])("L-08, A-05: the type %j is refused", (type) => {
    expect(refusal(withPlugin(`{"type":"${type}"}`))).toEqual([7, expect.stringContaining("is not the name of a plugin")]);
    expect(refusal(withPlugin(`{"type":"a","ipam":{"type":"${type}"}}`))).toEqual([
      7,
      expect.stringContaining("plugins[1]: ipam: type"),
    ]);
  });

  test("L-27: only capabilities that are true count, in their order", () => {
    const [, plugin] = load(
      withPlugin('{"type":"a","capabilities":{"mac":true,"ips":false,"__proto__":true,"dns":true}}'),
    ).plugins;
    expect(plugin?.capabilities).toEqual(["mac", "__proto__", "dns"]);
  });

  test("L-18: null in a plugin's object means an absent member, as for libcni, and stays in the object", () => {
    const written = '{"type":"a","name":null,"cniVersion":null,"capabilities":{"mac":null,"ips":true},"ipam":{"type":null}}';
    const [, plugin] = load(withPlugin(written)).plugins;
    expect(plugin).toMatchObject({ name: "", capabilities: ["ips"], ipamType: undefined });
    expect(plugin?.document.text).toBe(written);
    expect(refusal(withPlugin('{"type":null}'))).toEqual([7, "list: plugins[1]: missing 'type'"]);
  });

  test("L-19: a plugin's object is kept unchanged", () => {
    const written = '{ "type" : "a",\n  "vlan": 9007199254740993, "x":1e400, "y":-0, "z":1.0, "\\u00e9":"\\ud800" }';
    const [, plugin] = load(withPlugin(written)).plugins;
    expect(plugin?.document.text).toBe(written);
    expect(plugin && editMembers(plugin.document, new Map())).toBe(written);
  });

  test("A-06: 1000 plugins and a mebibyte of one are read", () => {
    const plugins = Array.from({ length: 1000 }, (_, index) => `{"type":"p${index}"}`).join(",");
    expect(load(`{"name":"n","plugins":[${plugins}]}`).plugins).toHaveLength(1000);
    const filler = "x".repeat(1_048_576);
    const [plugin] = load(`{"name":"n","plugins":[{"type":"a","filler":"${filler}"}]}`).plugins;
    expect(plugin && memberText(plugin.document, "filler")).toBe(`"${filler}"`);
  });
});

test("FI-19: a list without some types keeps its other bytes, and its subdirectory's plugins", () => {
  const list = load('{"name":"n", "x":1.0, "plugins":[{"type":"a"}, {"type":"mesh"}, {"type":"b","y":1e400}]}');
  const more = parsePluginConf('{"type":"mesh","z":1}', "mesh.conf");
  if (!more.ok) throw new Error(more.fault.msg);
  const less = withoutTypes({ ...list, plugins: [...list.plugins, more.value] }, ["mesh"]);
  expect(less.plugins.map(({ type }) => type)).toEqual(["a", "b"]);
  expect([less.inlined, less.text]).toEqual([2, '{"name":"n", "x":1.0, "plugins":[{"type":"a"},{"type":"b","y":1e400}]}']);
  expect(withoutTypes(list, ["other"])).toBe(list);
  // A list needs a plugin: then the step stays.
  expect(withoutTypes(list, ["a", "mesh", "b"])).toBe(list);
});

describe("a list as one text", () => {
  test("L-24: a single configuration becomes a list of one plugin, which keeps its text", () => {
    const written = ' {"cniVersion":"0.3.1", "name":"old", "type":"bridge", "x":1e400}\n';
    const plugin = parsePluginConf(written, "configuration");
    const list = plugin.ok ? listOfOne(plugin.value) : plugin;
    expect(list.ok && list.value).toMatchObject({ name: "old", cniVersion: "0.3.1", inlined: 1 });
    expect(list.ok && list.value.plugins[0]?.document.text).toBe(written.trim());
    expect(list.ok && list.value.text).toBe(`{"name":"old","cniVersion":"0.3.1","plugins":[${written.trim()}]}`);
  });

  test("L-24: a single configuration whose version is null becomes a list that can be read again", () => {
    const plugin = parsePluginConf('{"cniVersion":null,"name":"old","type":"bridge"}', "configuration");
    const list = plugin.ok ? listOfOne(plugin.value) : plugin;
    expect(list.ok && [list.value.cniVersion, load(list.value.text).cniVersion]).toEqual(["", ""]);
  });

  test("L-48: a list's text includes its subdirectory's plugins, and reads as the same list", () => {
    const list = load('{"name":"n","cniVersion":"1.0.0","disableCheck":true,"plugins":[{"type":"a","x":1.0}]}');
    expect(selfContainedText(list)).toBe(list.text);
    const more = parsePluginConf('{"type":"b"}', "b.conf");
    if (!more.ok) throw new Error(more.fault.msg);
    const again = load(selfContainedText({ ...list, plugins: [...list.plugins, more.value] }));
    expect(again).toMatchObject({
      name: "n",
      cniVersion: "1.0.0",
      disableCheck: true,
      disableGC: false,
      loadOnlyInlinedPlugins: true,
    });
    expect(again.plugins.map((plugin) => plugin.document.text)).toEqual(['{"type":"a","x":1.0}', '{"type":"b"}']);
  });
});
