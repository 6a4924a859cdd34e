import { describe, expect, test } from "vitest";
import { addChain } from "../cni/chains.ts";
import { type NetworkList, parseNetworkList, selfContainedText } from "../cni/network-list.ts";
import type { Fault } from "../fault/fault.ts";
import type { Result } from "../fault/result.ts";
import { parseDocument } from "../json/document.ts";
import { defaultNetworkCapabilityArgs } from "./capability-args.ts";
import type { NetworkSelection } from "./network-selection.ts";
import { compat, type NpwgProfile, strict } from "./profile.ts";
import { type RequestedNetwork, requestAttachment } from "./runtime-config.ts";
import { parseSelection } from "./selection.ts";

function value<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(result.fault.msg);
  return result.value;
}

/** The selection of an annotation with one element. */
function select(element: object | string, profile: NpwgProfile = compat): NetworkSelection {
  const text = typeof element === "string" ? `[{"name":"net-b",${element}}]` : JSON.stringify([{ name: "net-b", ...element }]);
  const [selection] = value(parseSelection(text, "ns", profile)).networks;
  if (selection === undefined) throw new Error("nothing selected");
  return selection;
}

const listOf = (...plugins: object[]): NetworkList =>
  value(parseNetworkList(JSON.stringify({ cniVersion: "1.1.0", name: "net-b", plugins })));

const capable = (...names: string[]) => ({ type: "p", capabilities: Object.fromEntries(names.map((name) => [name, true])) });

const ready = (list: NetworkList, element: object | string, profile: NpwgProfile = compat): RequestedNetwork =>
  value(requestAttachment(list, select(element, profile), profile));

function refusal(list: NetworkList, element: object, profile: NpwgProfile = compat): Fault {
  const result = requestAttachment(list, select(element, profile), profile);
  if (result.ok) throw new Error("accepted");
  return result.fault;
}

/** The stdin that each plugin of the chain gets on ADD. */
function stdins({ list, capabilityArgs }: RequestedNetwork): string[] {
  const attachment = { containerId: "c", netns: "/n", ifname: "net1", args: "", capabilityArgs };
  const chain = addChain({ list, path: "/bin", inherited: [], attachment });
  const seen: string[] = [];
  let next = chain.next({ ok: true, stdout: "" });
  while (next.done !== true) {
    seen.push(next.value.stdin);
    next = chain.next({ ok: true, stdout: '{"cniVersion":"1.1.0"}' });
  }
  return seen;
}

const configs = (network: RequestedNetwork) => stdins(network).map((text) => JSON.parse(text) as Record<string, unknown>);

describe("requests by capability", () => {
  test("N11-04: only plugins that declare the capability get ips, unchanged", () => {
    const ips = ["10.2.2.42/24", "10.2.2.43", "2001:DB8::5/64"];
    const [first, second] = configs(ready(listOf({ type: "a" }, capable("ips")), { ips }, strict));
    expect(first).not.toHaveProperty("runtimeConfig");
    expect(second?.["runtimeConfig"]).toEqual({ ips });
    expect(JSON.stringify([first, second])).not.toContain('"args"');
  });

  test("N11-06: mac goes to runtimeConfig.mac", () => {
    const [config] = configs(ready(listOf(capable("mac")), { mac: "02:23:45:67:89:01" }, strict));
    expect(config?.["runtimeConfig"]).toEqual({ mac: "02:23:45:67:89:01" });
  });

  test("N11-09: portMappings go to runtimeConfig.portMappings, protocols in lower case", () => {
    const portMappings = [{ hostPort: 8080, containerPort: 80, protocol: "TCP" }];
    const [config] = configs(ready(listOf(capable("portMappings")), { portMappings }, strict));
    expect(config?.["runtimeConfig"]).toEqual({ portMappings: [{ hostPort: 8080, containerPort: 80, protocol: "tcp" }] });
  });

  test("N11-11: bandwidth goes to runtimeConfig.bandwidth unchanged", () => {
    const bandwidth = { ingressRate: 2048, ingressBurst: 300, egressRate: 8000, egressBurst: 200 };
    const [config] = configs(ready(listOf(capable("bandwidth")), { bandwidth }, strict));
    expect(config?.["runtimeConfig"]).toEqual({ bandwidth });
  });

  test.each([
    [8_000, 524_288],
    [100_000_000, 10_000_000],
    [400_000_000_000, 4_294_967_295],
  ])("N11-11: a rate of %i without a burst gets a burst that the reference plugin accepts", (egressRate, egressBurst) => {
    const [config] = configs(ready(listOf(capable("bandwidth")), { bandwidth: { egressRate } }));
    expect(config?.["runtimeConfig"]).toEqual({ bandwidth: { egressRate, egressBurst } });
  });

  test("N12-02: infiniband-guid goes to runtimeConfig.infinibandGUID", () => {
    const [config] = configs(ready(listOf(capable("infinibandGUID")), { "infiniband-guid": "24:8a:07:03:00:8d:ae:2f" }, strict));
    expect(config?.["runtimeConfig"]).toEqual({ infinibandGUID: "24:8a:07:03:00:8d:ae:2f" });
  });

  test("MA-04: deviceID goes to the plugin that declares it and is dropped without a refusal elsewhere", () => {
    const [with_] = configs(ready(listOf(capable("deviceID")), { deviceID: "0000:04:00.5" }));
    expect(with_?.["runtimeConfig"]).toEqual({ deviceID: "0000:04:00.5" });
    expect(configs(ready(listOf({ type: "p" }), { deviceID: "x" }))[0]).not.toHaveProperty("runtimeConfig");
  });

  const asks: readonly (readonly [id: string, element: object, capability: string])[] = [
    ["N11-05", { ips: ["10.0.0.1"] }, "ips"],
    ["N11-06", { mac: "02:23:45:67:89:01" }, "mac"],
    ["N11-09", { portMappings: [{ hostPort: 1, containerPort: 1 }] }, "portMappings"],
    ["N11-11", { bandwidth: { egressRate: 1 } }, "bandwidth"],
    ["N12-02", { "infiniband-guid": "24:8a:07:03:00:8d:ae:2f" }, "infinibandGUID"],
  ];
  test.each(asks)("%s: %j without the capability %s fails the request", (_, element, capability) => {
    const list = listOf({ type: "a", capabilities: { [capability]: false } }, { type: "b", capabilities: { other: true } });
    const fault = refusal(list, element, strict);
    expect(fault).toMatchObject({ kind: "CAPABILITY_MISSING", code: 7 });
    expect(fault.msg).toContain("network ns/net-b");
    expect(fault.msg).toContain(`"capabilities": {"${capability}": true}`);
  });

  test.each(asks.slice(2))("%s: %j without the capability %s fails for Multus' users too", (_, element) => {
    expect(refusal(listOf({ type: "a" }), element).kind).toBe("CAPABILITY_MISSING");
  });

  test("N11-18: a secondary network gets its selection's requests and nothing of the runtime's runtimeConfig", () => {
    const runtime = value(
      parseDocument('{"runtimeConfig":{"portMappings":[{"hostPort":1}],"bandwidth":{"ingressRate":1}}}', { what: "stdin" }),
    );
    expect(value(defaultNetworkCapabilityArgs(runtime)).size).toBe(2);
    const secondary = listOf(capable("portMappings", "bandwidth", "ips"), { type: "q" });
    for (const config of configs(ready(secondary, {}))) expect(config).not.toHaveProperty("runtimeConfig");
    expect(configs(ready(secondary, { ips: ["10.0.0.1"] }))[0]?.["runtimeConfig"]).toEqual({ ips: ["10.0.0.1"] });
  });

  test("MC-17: the default network gets every capability argument of the runtime, byte for byte", () => {
    const text =
      '{"dns":{"servers":["1.1.1.1"]}, "ipRanges":[[{ "subnet":"10.0.0.0/8"}]], "x.y/z":9007199254740993, "__proto__":{}}';
    const args = value(defaultNetworkCapabilityArgs(value(parseDocument(`{"runtimeConfig":${text}}`, { what: "stdin" }))));
    expect([...args]).toEqual([
      ["dns", '{"servers":["1.1.1.1"]}'],
      ["ipRanges", '[[{ "subnet":"10.0.0.0/8"}]]'],
      ["x.y/z", "9007199254740993"],
      ["__proto__", "{}"],
    ]);
  });

  test.each(["{}", '{"runtimeConfig":null}'])("MC-17: %s has none", (text) => {
    expect(defaultNetworkCapabilityArgs(value(parseDocument(text, { what: "stdin" })))).toEqual({ ok: true, value: new Map() });
  });

  test("MC-17: a runtimeConfig that is not an object is refused", () => {
    const result = defaultNetworkCapabilityArgs(value(parseDocument('{"runtimeConfig":[]}', { what: "stdin" })));
    expect(result).toMatchObject({ ok: false, fault: { kind: "CONFIG_INVALID", msg: expect.stringContaining("runtimeConfig") } });
  });
});

describe("requests by args.cni", () => {
  test.each([
    ["N1-24", { ips: ["10.0.0.1", "fd00::1/64"] }],
    ["N1-27", { mac: "02:23:45:67:89:01" }],
  ])("%s: without the capability, %j goes to args.cni of every plugin, as in version 1.0", (_, element) => {
    const network = ready(listOf({ type: "a" }, { type: "b", capabilities: { other: true } }), element);
    for (const config of configs(network)) {
      expect(config["args"]).toEqual({ cni: element });
      expect(config).not.toHaveProperty("runtimeConfig");
    }
    expect(network.capabilityArgs.size).toBe(0);
  });

  test("D-02: with the capability, only runtimeConfig has it", () => {
    const [config] = configs(ready(listOf(capable("ips")), { ips: ["10.0.0.1"] }));
    expect(config).not.toHaveProperty("args");
  });

  test("N11-07: cni-args go to args.cni of every plugin; the pod's key wins, the definition's other keys survive", () => {
    const list = listOf({ type: "a", args: { cni: { both: "nad", own: "nad" }, "org.foo": 1 } }, { type: "b" });
    const [first, second] = configs(ready(list, { "cni-args": { both: "pod", spoofchk: "on" } }, strict));
    expect(first?.["args"]).toEqual({ cni: { both: "pod", own: "nad", spoofchk: "on" }, "org.foo": 1 });
    expect(second?.["args"]).toEqual({ cni: { both: "pod", spoofchk: "on" } });
  });

  test("N11-07: args of the list count too, with lower precedence than a plugin's and the pod's", () => {
    const text =
      '{"cniVersion":"1.0.0","name":"n","args":{"cni":{"a":"list","b":"list","c":"list"}},"plugins":[{"type":"x","args":{"cni":{"b":"plugin","c":"plugin"}}}]}';
    const [config] = configs(ready(value(parseNetworkList(text)), { "cni-args": { c: "pod" } }));
    expect(config?.["args"]).toEqual({ cni: { a: "list", b: "plugin", c: "pod" } });
  });

  test("N11-07: every byte of values, of other keys and of numbers stays", () => {
    const text =
      '{"cniVersion":"1.0.0","name":"n", "x" : 1.0,"plugins":[{"type":"x", "big":9007199254740993, "args":{ "cni":{ "k" : 1e2 }, "z":0.10 } }]}';
    const network = ready(value(parseNetworkList(text)), '"cni-args":{"n":9007199254740993,"o":{"b":1, "a":2.0}}');
    const edited =
      '{"type":"x", "big":9007199254740993, "args":{ "cni":{"k":1e2,"n":9007199254740993,"o":{"b":1, "a":2.0}}, "z":0.10 } }';
    expect(network.list.plugins[0]?.document.text).toBe(edited);
    expect(network.list.text).toBe(`{"cniVersion":"1.0.0","name":"n", "x" : 1.0,"plugins":[${edited}]}`);
    expect(stdins(network)[0]).toContain('"n":9007199254740993');
  });

  test("N11-07: the journal's list has the arguments, also for plugins of the subdirectory", () => {
    const list = listOf({ type: "a" });
    const [plugin] = listOf({ type: "sub" }).plugins;
    const both = { ...list, plugins: [...list.plugins, ...(plugin === undefined ? [] : [plugin])] };
    const network = ready(both, { "cni-args": { k: 1 } });
    const again = value(parseNetworkList(selfContainedText(network.list)));
    expect(again.plugins.map((each) => [each.type, each.document.parsed["args"]])).toEqual([
      ["a", { cni: { k: 1 } }],
      ["sub", { cni: { k: 1 } }],
    ]);
    expect(network.list.text).not.toContain("sub");
  });

  test("N11-07: without cni-args the list stays the same", () => {
    const list = listOf({ type: "a", args: { cni: { x: 1 } } });
    expect(ready(list, {}).list).toBe(list);
    expect(stdins(ready(list, { "cni-args": {} }))).toEqual(stdins(ready(list, {})));
  });

  test.each([
    [{ type: "a", args: [] }, "plugins[0]: args must be an object, but is an array"],
    [{ type: "a", args: { cni: "x" } }, "plugins[0]: args.cni must be an object, but is a string"],
  ])("N11-07: %j of a definition is refused if the pod adds arguments", (plugin, why) => {
    const fault = refusal(listOf(plugin), { "cni-args": { k: 1 } });
    expect(fault.kind).toBe("CONFIG_INVALID");
    expect(fault.msg).toContain(why);
  });

  test("A-04: keys of the prototype in cni-args arrive as keys", () => {
    const network = ready(listOf({ type: "a" }), '"cni-args":{"__proto__":{"x":1},"constructor":2}');
    expect(stdins(network)[0]).toContain('"args":{"cni":{"__proto__":{"x":1},"constructor":2}}');
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  test("N13-01, D-09: the claim goes to args.cni of every plugin, and to runtimeConfig of plugins that declare it", () => {
    const claim = { "ipam-claim-reference": "vm123.tenantblue" };
    const [plain, declared] = configs(ready(listOf({ type: "a" }, capable("ipam-claim-reference")), claim, strict));
    expect(plain).toMatchObject({ args: { cni: claim } });
    expect(plain).not.toHaveProperty("runtimeConfig");
    expect(declared).toMatchObject({ args: { cni: claim }, runtimeConfig: claim });
  });

  test("N13-01: the claim wins over a cni-arg of its name", () => {
    const [config] = configs(
      ready(listOf({ type: "a" }), { "ipam-claim-reference": "right", "cni-args": { "ipam-claim-reference": "w" } }),
    );
    expect(config?.["args"]).toEqual({ cni: { "ipam-claim-reference": "right" } });
  });
});

describe("both forms of the annotation", () => {
  test("N1-17: give the plugins the same stdin", () => {
    const list = listOf(capable("ips"), { type: "b" });
    const [comma] = value(parseSelection("net-b@data", "ns", compat)).networks;
    const [json] = value(parseSelection('[{"name":"net-b","interface":"data"}]', "ns", compat)).networks;
    expect(comma).toBeDefined();
    const of = (selection: NetworkSelection | undefined) =>
      selection === undefined ? [] : stdins(value(requestAttachment(list, selection, compat)));
    expect(of(comma)).toEqual(of(json));
    expect(of(comma)).toHaveLength(2);
  });
});
