import { expect, test } from "vitest";
import { inlineNetwork } from "../cni/inline-network.ts";
import { defaultDefinitionPolicy, type DefinitionPolicy } from "../configuration/keys/definition-keys.ts";
import { positionAt } from "../json/position.ts";
import { definitionStepFindings, type PluginKind } from "./definition-steps.ts";
import { locateNetwork } from "./locate-network.ts";

const kinds: Readonly<Record<string, PluginKind>> = {
  macvlan: "native",
  "host-local": "native",
  adapter: "component",
  tuning: "unknown",
};
const policy: DefinitionPolicy = {
  ...defaultDefinitionPolicy,
  rules: [
    {
      namespaces: ["shop"],
      native: { macvlan: { master: ["eth1"] } },
      ipam: { "host-local": "*" },
      grants: {},
      files: [],
      pools: [],
    },
  ],
};

/** The findings about a definition of the namespace shop, which is bound unless trusted, as `line rule message`. */
function found(plugin: object, isTrusted = false): readonly string[] {
  const text = JSON.stringify({ cniVersion: "1.0.0", name: "a", plugins: [plugin] }, undefined, 1);
  const list = inlineNetwork(text, "a", { name: "", cniVersion: "1.0.0" });
  if (!list.ok) throw new Error(list.fault.msg);
  const source = { file: "a", text, place: (offset: number) => positionAt(text, offset) };
  const network = { source, object: "shop/a", list: list.value, paths: locateNetwork(text, list.value) };
  const binding = isTrusted ? undefined : { namespace: "shop", name: "a" };
  const plugins = {
    kindOf: (type: string) => kinds[type] ?? "missing",
    missingGrants: (_: string, definition: object | undefined) => (definition === undefined ? [] : ["links"]),
  };
  return definitionStepFindings(network, binding, policy, plugins).map(({ line, rule, message }) => `${line} ${rule} ${message}`);
}

test("a type that no node has is an unknown plugin, at its place", () => {
  expect(found({ type: "macvlam" })).toEqual(["6 unknown-plugin no node has a plugin of type macvlam"]);
});

test("a native plugin may implement its ipam.type itself, and a component may not", () => {
  expect(found({ type: "macvlan", ipam: { type: "own" } })).toEqual([expect.stringContaining("forbidden-by-policy")]);
  expect(found({ type: "macvlan", ipam: { type: "own" } }, true)).toEqual([]);
  expect(found({ type: "adapter", ipam: { type: "own" } }, true)).toEqual(["8 unknown-plugin no node has a plugin of type own"]);
});

test("a component without its grants is found, and one whose grants the administrator's network has is not", () => {
  expect(found({ type: "adapter" })).toEqual(["6 missing-grant adapter: not granted: links"]);
  expect(found({ type: "adapter" }, true)).toEqual([]);
});

test("a native plugin of a bound definition needs a rule, for its keys too", () => {
  expect(found({ type: "macvlan", master: "eth1", ipam: { type: "host-local", subnet: "10.1.0.0/24" } })).toEqual([]);
  expect(found({ type: "macvlan", master: "eth0" })).toEqual([
    expect.stringContaining('forbidden-by-policy NetworkAttachmentDefinition shop/a: native plugin "macvlan"'),
  ]);
  expect(found({ type: "macvlan", master: "eth0" }, true)).toEqual([]);
});

test("a type whose plugin depends on the node has no finding", () => {
  expect(found({ type: "tuning" })).toEqual([]);
});
