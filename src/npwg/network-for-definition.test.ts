import { assert, boolean, property } from "fast-check";
import { describe, expect, test } from "vitest";
import type { ConfigDirectory } from "../cni/config-directory.ts";
import { type DefinedNetwork, networkFor } from "./network-for-definition.ts";

const nad = (name: string, config?: string | object) => ({
  namespace: "ns",
  name,
  annotations: new Map<string, string>(),
  ...(config === undefined ? {} : { config: typeof config === "string" ? config : JSON.stringify(config) }),
});
const directory = (...files: (readonly [name: string, content: string | object])[]): ConfigDirectory => ({
  path: "/conf",
  files: files.map(([name, content]) => ({
    path: `/conf/${name}`,
    text: typeof content === "string" ? content : JSON.stringify(content),
  })),
});

function found(definition: ReturnType<typeof nad>, conf: ConfigDirectory = directory()): DefinedNetwork {
  const result = networkFor(definition, conf);
  if (!result.ok) throw new Error(result.fault.msg);
  return result.value;
}

function refusal(definition: ReturnType<typeof nad>, conf?: ConfigDirectory) {
  const result = networkFor(definition, conf);
  if (result.ok) throw new Error("accepted");
  return result.fault;
}

const types = (network: DefinedNetwork) => network.list.plugins.map((plugin) => plugin.type);

describe("a definition's configuration", () => {
  test("N1-04: a definition without spec uses the configuration on disk with its name", () => {
    const network = found(nad("a-bridge-network"), directory(["x.conf", { name: "a-bridge-network", type: "bridge" }]));
    expect(types(network)).toEqual(["bridge"]);
    expect(network.path).toBe("/conf/x.conf");
  });

  test("N1-05: config may be a single configuration, a list, or only a type", () => {
    expect(types(found(nad("a", { cniVersion: "0.3.0", name: "a", type: "bridge" })))).toEqual(["bridge"]);
    expect(types(found(nad("a", { name: "a", plugins: [{ type: "bridge" }, { type: "tuning" }] })))).toEqual([
      "bridge",
      "tuning",
    ]);
    expect(types(found(nad("a", { type: "awesome-plugin" })))).toEqual(["awesome-plugin"]);
  });

  test("N1-09: spec.config wins over a file of the same name", () => {
    const network = found(
      nad("a", { name: "a", type: "mine" }),
      directory(["a.conflist", { name: "a", plugins: [{ type: "disk" }] }]),
    );
    expect(types(network)).toEqual(["mine"]);
    expect(network.path).toBeUndefined();
  });

  test.each(["00.conflist", "00.configlist"])(
    "N1-10, D-10: a list in %s is found by its JSON name, not by the file name",
    (file) => {
      const conf = directory(
        ["a.conflist", { name: "other", plugins: [{ type: "no" }] }],
        [file, { name: "a", plugins: [{ type: "yes" }] }],
      );
      expect(types(found(nad("a"), conf))).toEqual(["yes"]);
    },
  );

  test.each(["zz.conf", "zz.config", "zz.json"])(
    "N1-11, D-10: a single configuration in %s is found by its JSON name",
    (file) => {
      expect(types(found(nad("a"), directory([file, { name: "a", type: "yes" }])))).toEqual(["yes"]);
    },
  );

  test("N1-11: a list wins over a single configuration, for any file names", () => {
    const conf = directory(
      ["00.conf", { name: "a", type: "single" }],
      ["99.conflist", { name: "a", plugins: [{ type: "list" }] }],
    );
    expect(types(found(nad("a"), conf))).toEqual(["list"]);
  });

  test("N1-12: without a configuration the request fails, and the message has the definition", () => {
    for (const conf of [
      undefined,
      directory(),
      directory(["a.txt", { name: "a", type: "x" }], ["b.conf", { name: "b", type: "x" }]),
    ]) {
      const fault = refusal(nad("a"), conf);
      expect(fault).toMatchObject({ kind: "NETWORK_NOT_FOUND", code: 7 });
      expect(fault.msg).toContain("NetworkAttachmentDefinition ns/a has no spec.config");
    }
  });

  test("N1-12: a broken config is a fault, and is not replaced by a file", () => {
    const conf = directory(["a.conf", { name: "a", type: "disk" }]);
    expect(refusal(nad("a", "{"), conf)).toMatchObject({ kind: "CONFIG_NOT_JSON", code: 6 });
    expect(refusal(nad("a", "{}"), conf).msg).toContain(
      'NetworkAttachmentDefinition ns/a: spec.config: "type" (one plugin) or "plugins" (a list) is missing',
    );
    expect(refusal(nad("a", "[]"), conf).msg).toContain("ns/a: spec.config must be a JSON object");
    expect(refusal(nad("a", { plugins: [] }), conf).msg).toContain("no plugins in list");
  });

  test("N1-12: a broken file is skipped with a warning, and named if no configuration is found", () => {
    const broken = ["00.conflist", "{"] as const;
    expect(found(nad("a"), directory(broken, ["a.conf", { name: "a", type: "x" }])).warnings.join()).toContain("00.conflist");
    expect(refusal(nad("a"), directory(broken)).details).toContain("/conf/00.conflist is not JSON");
  });

  test("N1-13: for all combinations of config and files, the rules apply in order", () => {
    assert(
      property(boolean(), boolean(), boolean(), (inSpec, asList, asSingle) => {
        const files: [string, object][] = [];
        if (asSingle) files.push(["00.config", { name: "a", type: "single" }]);
        if (asList) files.push(["01.configlist", { name: "a", plugins: [{ type: "list" }] }]);
        const result = networkFor(inSpec ? nad("a", { type: "spec" }) : nad("a"), directory(...files));
        const expected = inSpec ? "spec" : asList ? "list" : asSingle ? "single" : undefined;
        expect(result.ok ? result.value.list.plugins[0]?.type : undefined).toBe(expected);
      }),
    );
  });

  test("N1-14: a config without a name gets the definition's, as in the specification's example", () => {
    const network = found(nad("a-bridge-network", '{ "cniVersion": "0.3.0", "type": "awesome-plugin" }'));
    expect(network.list).toMatchObject({ name: "a-bridge-network", cniVersion: "0.3.0" });
    expect(JSON.parse(network.list.plugins[0]?.document.text ?? "")).toEqual({
      cniVersion: "0.3.0",
      name: "a-bridge-network",
      type: "awesome-plugin",
    });
    expect(found(nad("n", { name: "", plugins: [{ type: "x" }] })).list.name).toBe("n");
    expect(found(nad("n", { name: null, type: "x" })).list.name).toBe("n");
  });

  test("N1-14: all other bytes of the config stay", () => {
    const config = '{"type":"x", "big":9007199254740993, "f": 1.0, "u":"\\u00e4"}';
    expect(found(nad("n", config)).list.plugins[0]?.document.text).toBe(config.replace(/}$/, ',"name":"n"}'));
  });

  test("N1-15: a name other than the definition's works with a warning", () => {
    const network = found(nad("a", { name: "Other_Net", type: "x" }));
    expect(network.list.name).toBe("Other_Net");
    expect(network.warnings).toEqual([
      'NetworkAttachmentDefinition ns/a: its configuration has the name "Other_Net"; the object\'s own name is recommended (3.4.3)',
    ]);
    expect(found(nad("a", { name: "a", type: "x" })).warnings).toEqual([]);
  });

  test.each([
    [{ name: "../x", type: "a" }, "invalid characters found in network name"],
    [{ name: "a/b", plugins: [{ type: "a" }] }, "invalid characters found in network name"],
    [{ name: "a", type: "../../bin/sh" }, "is not the name of a plugin"],
    [{ name: "a", plugins: [{ type: "../../bin/sh" }] }, "plugins[0]: type"],
    [{ name: 5, type: "a" }, "name must be a string, but is a number"],
  ])("A-05: %j is refused, and the message has the definition", (config, why) => {
    const { msg } = refusal(nad("a", config));
    expect(msg).toContain(why);
    expect(msg).toContain("NetworkAttachmentDefinition ns/a: spec.config");
  });

  test("A-06: a config of a mebibyte is read", () => {
    const network = found(nad("a", { type: "x", filler: "y".repeat(1_048_576) }));
    expect(types(network)).toEqual(["x"]);
  });
});
