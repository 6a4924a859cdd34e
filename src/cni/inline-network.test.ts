import { describe, expect, test } from "vitest";
import { inlineNetwork } from "./inline-network.ts";

const holder = { name: "cluster", cniVersion: "1.1.0" };
const read = (network: object | string) =>
  inlineNetwork(typeof network === "string" ? network : JSON.stringify(network), "delegates[0]", holder);

function networkOf(network: object) {
  const result = read(network);
  if (!result.ok) throw new Error(result.fault.msg);
  const { name, cniVersion, plugins } = result.value;
  return { name, cniVersion, types: plugins.map(({ type }) => type) };
}

describe("a network within a configuration", () => {
  test("a list keeps its own name and version", () => {
    const network = { name: "pods", cniVersion: "0.4.0", plugins: [{ type: "bridge" }, { type: "tuning" }] };
    expect(networkOf(network)).toEqual({ name: "pods", cniVersion: "0.4.0", types: ["bridge", "tuning"] });
  });

  test("a single plugin becomes a list of one", () => {
    expect(networkOf({ name: "pods", cniVersion: "1.0.0", type: "bridge" })).toEqual({
      name: "pods",
      cniVersion: "1.0.0",
      types: ["bridge"],
    });
  });

  test.each([[{ plugins: [{ type: "bridge" }] }], [{ type: "bridge" }]])("%j gets name and version of its holder", (network) => {
    expect(networkOf(network)).toEqual({ ...holder, types: ["bridge"] });
  });

  test("only the missing one of both is supplied", () => {
    expect(networkOf({ name: "pods", type: "bridge" })).toMatchObject({ name: "pods", cniVersion: "1.1.0" });
    expect(networkOf({ cniVersion: "0.3.1", type: "bridge" })).toMatchObject({ name: "cluster", cniVersion: "0.3.1" });
  });

  test.each([[{ cniVersion: "", plugins: [{ type: "bridge" }] }], [{ cniVersion: "", type: "bridge" }]])(
    "FI-09: %j gets the version of its holder, because an empty version is a missing one",
    (network) => {
      expect(networkOf(network)).toEqual({ ...holder, types: ["bridge"] });
    },
  );

  test.each([[{ name: "", type: "bridge" }], [{ name: null, type: "bridge" }], [{ name: null, plugins: [{ type: "bridge" }] }]])(
    "FI-09: %j gets the name of its holder, because an empty name is a missing one",
    (network) => {
      expect(networkOf(network)).toEqual({ ...holder, types: ["bridge"] });
    },
  );

  test("a list with cniVersions gets no cniVersion of its holder", () => {
    expect(networkOf({ name: "pods", cniVersions: ["0.3.1", "1.0.0"], plugins: [{ type: "bridge" }] }).cniVersion).toBe("1.0.0");
  });

  test("a list that also has a type is a list", () => {
    expect(networkOf({ type: "multus", plugins: [{ type: "bridge" }] }).types).toEqual(["bridge"]);
  });

  test.each([
    ["{", "CONFIG_NOT_JSON", "delegates[0]"],
    ["{}", "CONFIG_INVALID", 'delegates[0]: "type" (one plugin) or "plugins" (a list) is missing'],
    ['{"plugins":[]}', "CONFIG_INVALID", "delegates[0]: no plugins in list"],
    ['{"plugins":7}', "CONFIG_INVALID", "delegates[0]"],
    ['{"type":7}', "CONFIG_INVALID", "delegates[0]"],
  ])("%s is refused with %s", (text, kind, msg) => {
    expect(read(text)).toMatchObject({ ok: false, fault: { kind, msg: expect.stringContaining(msg) } });
  });
});
