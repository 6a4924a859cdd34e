import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { type ExternalPortSettings, readProviders } from "./provider-settings.ts";

const directory = mkdtempSync(join(tmpdir(), "plexus-providers-"));
const subnet = "0f3c2a1e-5d7b-4c59-9a53-7d1c6f0f7a10";

function read(neutron: object, more: object = {}): Promise<ExternalPortSettings> {
  const file = join(directory, "providers.yaml");
  const settings = { url: "https://network.example:9696", auth: { type: "none" }, ...neutron };
  const providers = [{ name: "neutron", type: "neutron", namespaces: ["*"], owner: "a", neutron: settings }];
  writeFileSync(file, JSON.stringify({ providers, ...more }));
  return readProviders(file);
}

describe("the settings of external ports", () => {
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  test("have no pool and nothing in Kuryr's form by default", async () => {
    const { providers, kuryr } = await read({});
    expect(providers.get("neutron")).toMatchObject({ type: "neutron" });
    expect(kuryr).toBeUndefined();
    expect((await read({}, { kuryr: {} })).kuryr).toBeUndefined();
    expect((await read({}, { kuryr: { annotation: true } })).kuryr).toEqual({
      annotation: true,
      kuryrPorts: false,
      bridge: "br-int",
    });
  });

  test("let a pod use the definitions of every namespace, unless namespaceIsolation is on", async () => {
    expect((await read({})).rules.isolation).toEqual({ namespaceIsolation: false, globalNamespaces: [] });
    const isolation = { namespaceIsolation: true, globalNamespaces: ["default"] };
    expect((await read({}, { isolation })).rules.isolation).toEqual(isolation);
  });

  test.each([
    ["compat", { profile: "compat" }],
    ["strict", { profile: "strict" }],
    ["compat", { profile: "multus" }],
    ["compat", {}],
  ])("read a pod's selection by the nodes' profile: %s with %j", async (name, more) => {
    expect((await read({}, more)).rules.profile.name).toBe(name);
  });

  test.each([
    ["fail", {}],
    ["ignore", { profile: "strict" }],
    ["fail", { profile: "strict", invalidAnnotation: "fail" }],
    ["ignore", { invalidAnnotation: "ignore" }],
  ])("read an invalid annotation as the nodes: %s with %j", async (invalidAnnotation, more) => {
    expect((await read({}, more)).rules.profile).toMatchObject({ invalidAnnotation });
  });

  test.each([
    ["an unknown profile", {}, { profile: "loose" }, /profile/],
    ["a minimum above the maximum", { ahead: [{ subnet, min: 5, max: 4 }] }, {}, /ahead.0.min: min is greater than max/],
    ["201 ports in a pool", { ahead: [{ subnet, min: 1, max: 201 }] }, {}, /ahead.0.max/],
    ["two pools of one subnet", { ahead: [1, 2].map((min) => ({ subnet, min, max: 4 })) }, {}, /two pools have the same subnet/],
    ["33 pools", { ahead: Array.from({ length: 33 }, (_, each) => ({ subnet: `s${each}`, min: 1, max: 1 })) }, {}, /ahead/],
    ["a bridge with a path", {}, { kuryr: { bridge: "../br" } }, /kuryr.bridge/],
    ["a password in the URL", { url: "https://user:secret@network.example" }, {}, /neutron.url: a URL without a user/],
    ["an unknown key", {}, { kuryr: { ports: true } }, /kuryr: .*ports/],
  ])("with %s are refused by the key", async (_, neutron, more, message) => {
    await expect(read(neutron, more)).rejects.toThrow(message);
  });
});
