import { describe, expect, test } from "vitest";
import { parseNetworkList } from "../cni/network-list.ts";
import { readMark, readTemplate, type WrittenValues, writtenText } from "./written-configuration.ts";

const values: WrittenValues = {
  clusterNetwork: "/etc/cni/net.d/10-a.conflist",
  capabilities: ["portMappings"],
  kubeconfig: "/run/plexus/credentials/kubeconfig",
  retirement: undefined,
};

const retirement = { daemonSet: "uid/3", held: true };

function written(template: object | string, more: Partial<WrittenValues> = {}): string {
  const read = readTemplate(typeof template === "string" ? template : JSON.stringify(template), "/etc/plexus/config.json");
  if (!read.ok) throw new Error(read.fault.msg);
  return writtenText(read.value, { ...values, ...more });
}

function pluginOf(text: string): unknown {
  const list = parseNetworkList(text);
  if (!list.ok) throw new Error(list.fault.msg);
  return list.value.plugins[0]?.document.parsed;
}

describe("the written configuration", () => {
  test("completes an empty template", () => {
    expect(written({})).toBe(`{
  "cniVersion": "1.0.0",
  "cniVersions": ["1.0.0","1.1.0"],
  "name": "plexus",
  "writtenBy": "plexusd",
  "plugins": [{"type":"plexus","capabilities":{"portMappings":true},"clusterNetwork":"/etc/cni/net.d/10-a.conflist","readinessindicatorfile":"/etc/cni/net.d/10-a.conflist","kubeconfig":"/run/plexus/credentials/kubeconfig"}]
}
`);
  });

  test("is a list of version 1.1.0 for a runtime that knows it, and of 1.0.0 for an older one, which ignores cniVersions", () => {
    const list = parseNetworkList(written({}));
    expect(list.ok && list.value.cniVersion).toBe("1.1.0");
    expect(JSON.parse(written({}))).toMatchObject({ cniVersion: "1.0.0" });
    expect(JSON.parse(written({ cniVersion: "0.4.0" }))).toMatchObject({ cniVersion: "0.4.0" });
    expect(JSON.parse(written({ cniVersion: "0.4.0" }))).not.toHaveProperty("cniVersions");
  });

  test("FI-09: an empty version is a missing one", () => {
    expect(written({ cniVersion: "" })).toBe(written({}));
    expect(JSON.parse(written({ name: "all", cniVersion: "", plugins: [{ type: "plexus" }] }))).toMatchObject({
      cniVersion: "1.0.0",
      cniVersions: ["1.0.0", "1.1.0"],
    });
  });

  test.each(["disableGC", "disableCheck"])("FI-11: %s of a template stands where the runtime and Plexus read it", (flag) => {
    for (const value of [true, "TRUE"]) {
      const inPlugin = JSON.parse(written({ [flag]: value }));
      expect(inPlugin).toMatchObject({ [flag]: true, plugins: [{ [flag]: value }] });
      const inList = JSON.parse(written({ name: "all", cniVersion: "1.1.0", [flag]: value, plugins: [{ type: "plexus" }] }));
      expect(inList).toMatchObject({ [flag]: true, plugins: [{ [flag]: true }] });
    }
    expect(JSON.parse(written({ [flag]: false }))).not.toHaveProperty(flag);
  });

  test("keeps the template's own bytes, keys and numbers", () => {
    const text = written('{ "cniDir": "/var/lib/cni/plexus",\n  "wasm": {"limits": {"timeMs": 1000}}, "callTimeoutMs": 1.0e5 }');
    expect(text).toContain('"cniDir": "/var/lib/cni/plexus",\n  "wasm": {"limits": {"timeMs": 1000}}, "callTimeoutMs": 1.0e5');
  });

  test("takes name, version and type from a plugin's object or from a list", () => {
    const plugin = { type: "meta", logLevel: "debug" };
    for (const template of [
      { ...plugin, name: "all", cniVersion: "1.0.0" },
      { name: "all", cniVersion: "1.0.0", plugins: [plugin] },
    ]) {
      expect(JSON.parse(written(template))).toMatchObject({
        name: "all",
        cniVersion: "1.0.0",
        plugins: [{ type: "meta", logLevel: "debug", clusterNetwork: values.clusterNetwork }],
      });
    }
  });

  test("declares the capabilities of template and default network", () => {
    const text = written({ capabilities: { ips: true, portMappings: false } }, { capabilities: ["portMappings", "bandwidth"] });
    expect(pluginOf(text)).toMatchObject({ capabilities: { portMappings: false, bandwidth: true, ips: true } });
    expect(written({}, { capabilities: [] })).not.toContain('"capabilities"');
  });

  test("keeps the template's indicator file and its source of pods", () => {
    expect(pluginOf(written({ readinessindicatorfile: "/run/flannel/subnet.env" }))).toMatchObject({
      readinessindicatorfile: "/run/flannel/subnet.env",
    });
    expect(pluginOf(written({ kubeconfig: "/etc/plexus/kubeconfig" }))).toMatchObject({ kubeconfig: "/etc/plexus/kubeconfig" });
    expect(pluginOf(written({ manifests: "/etc/plexus/pods" }))).not.toHaveProperty("kubeconfig");
    expect(pluginOf(written({}, { kubeconfig: undefined }))).not.toHaveProperty("kubeconfig");
  });

  test("spells keys as the shim and the runtime read them", () => {
    expect(pluginOf(written({ KUBECONFIG: "/x", BinDir: "/opt/bin" }))).toMatchObject({ kubeconfig: "/x", binDir: "/opt/bin" });
  });

  test("says that Plexus is being removed", () => {
    expect(pluginOf(written({}, { retirement }))).toMatchObject({ retired: true });
    expect(written({})).not.toContain("retired");
  });

  test("is recognised by its mark, also in a later or earlier release", () => {
    expect(readMark(written({}))).toEqual({ retirement: undefined });
    expect(readMark(written({}, { retirement }))).toEqual({ retirement });
    expect(readMark('{"writtenBy": "plexusd", "future": 1}')).toEqual({ retirement: undefined });
    for (const foreign of ["", "{", '{"name":"x","plugins":[{"type":"plexus"}]}', '{"writtenBy":"me"}', '["writtenBy"]'])
      expect(readMark(foreign)).toBeUndefined();
  });
});

describe("a template is refused with its file and key", () => {
  test.each([
    ["{", "is not JSON"],
    ["[]", "must be a JSON object"],
    ['{"clusterNetwork": "/x"}', "clusterNetwork: plexusd finds the default network"],
    ['{"ClusterNetwork": "/x"}', "clusterNetwork: plexusd finds the default network"],
    ['{"delegates": []}', "delegates: plexusd finds the default network"],
    ['{"retired": true}', "retired: plexusctl uninstall --wait sets it"],
    ['{"namespaceIsolatoin": true}', "did you mean namespaceIsolation?"],
    ['{"cniDir": "relative"}', "cniDir"],
    ['{"name": "a/b"}', "a/b"],
    ['{"name": "x", "plugins": []}', "only plugin"],
    ['{"name": "x", "plugins": [{"type": "plexus"}, {"type": "portmap"}]}', "only plugin"],
    ['{"plugins": [{"type": "plexus"}]}', "no name"],
    ['{"capabilities": {"ips": "yes"}}', "capabilities"],
  ])("%s", (text, why) => {
    const read = readTemplate(text, "/etc/plexus/config.json");
    expect(read).toMatchObject({ ok: false, fault: { kind: "TEMPLATE_INVALID", msg: expect.stringContaining(why) } });
    expect(read.ok ? "" : read.fault.msg).toContain("/etc/plexus/config.json");
  });
});
