import { describe, expect, test } from "vitest";

import { type NetworkList, parseNetworkList } from "./network-list.ts";
import { attachmentStdin, gcStdin, statusStdin } from "./step-request.ts";

function load(plugin: string, head = '"name":"n","cniVersion":"1.0.0"'): NetworkList {
  const list = parseNetworkList(`{${head},"plugins":[${plugin}]}`);
  if (!list.ok) throw new Error(list.fault.msg);
  return list.value;
}

function stdin(
  plugin: string,
  options: { prevResult?: string; args?: Readonly<Record<string, string>>; capabilities?: "keep" | "strip"; head?: string } = {},
): string {
  const list = load(plugin, options.head);
  const [conf] = list.plugins;
  if (conf === undefined) throw new Error("no plugin");
  return attachmentStdin(list, conf, options.prevResult, new Map(Object.entries(options.args ?? {})), options.capabilities);
}

describe("the configuration that a plugin gets", () => {
  test("L-25: has the list's name and version instead of its own", () => {
    expect(stdin('{"type":"a"}')).toBe('{"type":"a","cniVersion":"1.0.0","name":"n"}');
    expect(stdin('{"name":"own", "type":"a","cniVersion":"0.1.0"}')).toBe('{"name":"n", "type":"a","cniVersion":"1.0.0"}');
    expect(stdin('{"type":"a"}', { head: '"name":"n"' })).toBe('{"type":"a","cniVersion":"","name":"n"}');
  });

  test("L-26: has the unchanged previous result", () => {
    const prevResult = '{ "cniVersion":"0.4.0", "x":1e400 }';
    expect(stdin('{"type":"a"}', { prevResult })).toBe(`{"type":"a","cniVersion":"1.0.0","name":"n","prevResult":${prevResult}}`);
    expect(stdin('{"type":"a","prevResult":{"forged":1}}', { prevResult })).toContain(`"prevResult":${prevResult},`);
  });

  test("L-27: has the unchanged arguments of the capabilities that it declares true", () => {
    const args = { mac: '"0a:00:00:00:00:01"', ips: '[ "10.0.0.1/24" ]', bandwidth: '{"ingressRate":9007199254740993}' };
    const plugin = '{"type":"a","capabilities":{"bandwidth":true,"mac":false,"ips":true,"dns":true}}';
    const head = plugin.slice(0, -1);
    expect(stdin(plugin, { args })).toBe(
      `${head},"cniVersion":"1.0.0","name":"n","runtimeConfig":{"bandwidth":${args.bandwidth},"ips":${args.ips}}}`,
    );
  });

  test("L-27: a runtimeConfig of the configuration is replaced, and stays if there are no arguments", () => {
    const plugin = '{"type":"a","runtimeConfig":{"mac":"x"},"capabilities":{"mac":true}}';
    expect(stdin(plugin, { args: { mac: '"y"' } })).toContain('"runtimeConfig":{"mac":"y"},');
    expect(stdin(plugin, { args: { ips: "[]" } })).toContain('"runtimeConfig":{"mac":"x"},');
  });

  test("A-04: a capability called __proto__ is an ordinary capability", () => {
    const made = stdin('{"type":"a","capabilities":{"__proto__":true}}', { args: { ["__proto__"]: "1" } });
    expect(made).toContain('"capabilities":{"__proto__":true}');
    expect(made).toContain('"runtimeConfig":{"__proto__":1}');
    expect(stdin('{"type":"a","capabilities":{"__proto__":true}}')).not.toContain("runtimeConfig");
  });

  test("L-28, D-03: keeps capabilities, unless they are stripped as in the specification", () => {
    const plugin = '{"type":"a","capabilities":{"mac":true},"x":1}';
    expect(stdin(plugin)).toContain('"capabilities":{"mac":true}');
    expect(stdin(plugin, { capabilities: "keep" })).toBe(stdin(plugin));
    const stripped = stdin(plugin, { capabilities: "strip", args: { mac: '"m"' } });
    expect(stripped).toBe('{"type":"a","x":1,"cniVersion":"1.0.0","name":"n","runtimeConfig":{"mac":"m"}}');
  });

  test("L-29: keeps args and cni.dev keys of the configuration", () => {
    const plugin = '{"type":"a","args":{"cni":{"ips":["10.0.0.1"]}},"cni.dev/x":1}';
    expect(stdin(plugin)).toBe(`${plugin.slice(0, -1)},"cniVersion":"1.0.0","name":"n"}`);
  });

  test("L-19, L-30: keeps unknown keys, numbers, escapes, order and white space byte for byte", () => {
    const plugin =
      '{ "z" : 9007199254740993,\n"type":"a", "m":-0, "f":1.0, "e":1e400, "s":"\\ud800\\u0000<&>", "deep":[[[{"a":1}]]] }';
    expect(stdin(plugin)).toBe(`${plugin.slice(0, -2)},"cniVersion":"1.0.0","name":"n" }`);
  });

  const known = {
    portMappings: '[{"hostPort":8080,"containerPort":80,"protocol":"tcp","hostIP":"10.0.0.1"}]',
    ipRanges: '[[{"subnet":"10.1.2.0/24","rangeStart":"10.1.2.3","rangeEnd":"10.1.2.99","gateway":"10.1.2.254"}]]',
    bandwidth: '{"ingressRate":2048,"ingressBurst":1600,"egressRate":4096,"egressBurst":1600}',
    dns: '{"searches":["a"],"servers":["8.8.8.8"],"options":["ndots:5"]}',
    ips: '["10.10.0.1/24","3ffe::1"]',
    mac: '"c2:11:22:33:44:55"',
    infinibandGUID: '"c2:11:22:33:44:55:66:77"',
    deviceID: '"0000:04:00.5"',
    aliases: '["my-container"]',
    cgroupPath: '"/kubelet.slice/pod"',
  };
  test.each(Object.entries(known))("L-60: %s reaches the plugin that declares it, unchanged", (name, value) => {
    expect(stdin(`{"type":"a","capabilities":{"${name}":true}}`, { args: known })).toContain(
      `"runtimeConfig":{"${name}":${value}}}`,
    );
  });
});

describe("GC and STATUS", () => {
  const plugin = '{"type":"a","capabilities":{"mac":true},"prevResult":{"kept":1}}';

  test("L-42: STATUS gets name and version, without an attachment's keys", () => {
    const list = load(plugin);
    const [conf] = list.plugins;
    expect(conf && statusStdin(list, conf)).toBe(`${plugin.slice(0, -1)},"cniVersion":"1.0.0","name":"n"}`);
    expect(conf && statusStdin(list, conf, "strip")).not.toContain("capabilities");
  });

  test("L-43: GC gets the valid attachments under both keys, also if the list is empty", () => {
    const list = load('{"type":"a"}');
    const [conf] = list.plugins;
    const valid = '[{"containerID":"c1","ifname":"eth0"}]';
    expect(conf && gcStdin(list, conf, [{ containerId: "c1", ifname: "eth0" }])).toBe(
      `{"type":"a","cniVersion":"1.0.0","name":"n","cni.dev/valid-attachments":${valid},"cni.dev/attachments":${valid}}`,
    );
    expect(conf && gcStdin(list, conf, [])).toContain('"cni.dev/valid-attachments":[],"cni.dev/attachments":[]');
  });
});
